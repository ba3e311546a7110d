#!/usr/bin/env bash
# Each lab's run is recomputed by Python's PyTorch, on two numbers of ranks and with two seeds; a changed bit, another
# seed and a file that cannot be used are found.
source "$(dirname -- "$(readlink -f -- "$0")")/../../testing/program_checks.sh"
folder=$(dirname -- "$(readlink -f -- "$0")")/..
run_seconds=1800
export PYTHONPYCACHEPREFIX=$scratch/pycache

python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import numpy, torch' 2>/dev/null; then python=$candidate; break; fi
done
[[ $python ]] || { skip "no python3 that has numpy and torch (python3-numpy, python3-torch)"; exit 77; }

declare -A programs=([a4]=a4_data_tensor [a5]=a5_pipeline [a9]=a9_collectives [vae]=vae_sequence_parallel
  [optC]=optC_model_parallel)
recompute() { run "$python" "$folder/recompute.py" "$@"; }
last_line() { tail -n 1 "$scratch/out"; }
whole_line() { grep -qE -- "$1" "$scratch/out"; }

# saved_by LAB FOLDER OPTION...: the lab's run saves into the folder, and its own checks find it right.
saved_by() {
  local lab=$1 saved=$2
  shift 2
  run "$bin/${programs[$lab]}" "$@" --quiet --out "$scratch/results" --save "$saved"
  [[ $code == 0 ]] || verdict 1 "$lab $*: exit code $code"
}

# equal LAST_LINE: the last recomputation found no difference, in as many tensors as LAST_LINE says.
equal() {
  verdict "$([[ $code == 0 ]] && last_line | grep -qE -- "$1"; echo $?)" "$(last_line)"
  grep -A 3 '^DIFFERS' "$scratch/out"
}

# finds WHAT LINE: the last recomputation ended with 1 and has a line like LINE.
finds() {
  verdict "$([[ $code == 1 ]] && whole_line "$2"; echo $?)" "found: $1"
}

# changed NAME FILE: changes one bit of the tensor's largest element in the file: a float32 by 2^-13 of itself or less, a
# float64 by 2^-26 or less, an integer of 64 bits by 2^26.
changed() {
  "$python" - "$folder" "$@" <<'END'
import json
import sys
import numpy as np
folder, name, path = sys.argv[1:]
sys.path.insert(0, folder)
from read_saved import read_saved
array = read_saved(path).arrays[name]
data = bytearray(open(path, "rb").read())
begin = 8 + int.from_bytes(data[:8], "little")
begin += json.loads(data[8:begin])[name]["data_offsets"][0]
data[begin + int(np.nanargmax(abs(array))) * array.itemsize + max(0, array.itemsize // 2 - 1)] ^= 4
open(path, "wb").write(data)
END
}

run "$python" -m py_compile "$folder"/*.py "$folder"/labs/*.py
verdict "$code" "all files compile"
run "$python" -c "import sys; sys.modules['torch'] = None; sys.path.insert(0, '$folder'); import read_saved"
verdict "$code" "read_saved.py needs no PyTorch"

# --- the default sizes on 4 ranks; another seed and other sizes on other ranks ---
saved=$scratch/saved other=$scratch/other
for lab in a4 a5 a9 vae; do saved_by $lab "$saved/$lab" --nproc 4; done
saved_by optC "$saved/optC" --nproc 4 --epochs 1
recompute a4 "$saved/a4"
equal "^a4_data_tensor, 4 ranks, seed 42: 404 tensors of 10 cases: all equal$"
recompute a5 "$saved/a5"
equal "^a5_pipeline, 4 ranks, seed 1234: 1268 tensors of 25 cases: all equal$"
recompute a9 "$saved/a9"
equal "^a9_collectives, 4 ranks, seed 42: 1968 tensors of 43 cases: all equal$"
recompute vae "$saved/vae"
equal "^vae_sequence_parallel, 4 ranks, seed 2: 8420 tensors of 95 cases: all equal$"
recompute optC "$saved/optC"
equal "^optC_model_parallel, 4 ranks, seed 42: 6166 tensors of 55 cases: all equal$"

saved_by a4 "$other/a4" --nproc 2 --seed 7 --global-batch-size 24 --input-dim 10 --output-dim 6
saved_by a5 "$other/a5" --nproc 3 --seed 7 --number-of-layers 7 --hidden-size 24 --schedule interleaved \
  --micro-batch-size 1 --global-batch-size 6
saved_by a9 "$other/a9" --nproc 3 --seed 7
saved_by vae "$other/vae" --nproc 3 --seed 7 --size 64
saved_by optC "$other/optC" --nproc 2 --seed 7 --train-images 96 --test-images 32 --epochs 2
saved_by a5 "$other/bfloat16" --nproc 2 --seed 7 --no-cases --dtype bfloat16
recompute a4 "$other/a4" --seed 7
equal "^a4_data_tensor, 2 ranks, seed 7: 208 tensors of 10 cases: all equal$"
recompute a5 "$other/a5" --seed 7
equal "^a5_pipeline, 3 ranks, seed 7: 871 tensors of 22 cases: all equal$"
recompute a9 "$other/a9" --seed 7
equal "^a9_collectives, 3 ranks, seed 7: 1230 tensors of 41 cases: all equal$"
recompute vae "$other/vae" --seed 7
equal "^vae_sequence_parallel, 3 ranks, seed 7: 6315 tensors of 95 cases: all equal$"
recompute optC "$other/optC" --seed 7 --train-images 96
equal "^optC_model_parallel, 2 ranks, seed 7: 3014 tensors of 57 cases: all equal$"
recompute a5 "$other/bfloat16" --seed 7
equal "^a5_pipeline, 2 ranks, seed 7: 84 tensors of 11 cases: all equal$"

# --- what must be found: another seed, another number of ranks ---
for seed_change in "a4 DataParallel" "a5 Communicate" "a9 AllGatherBruck" "vae Upsample_64" "optC GpipeAlone"; do
  read -r lab case <<<"$seed_change"
  recompute "$lab" "$saved/$lab" "$case" --seed 3
  finds "another seed of $lab's $case" "^DIFFERS +$case "
done
recompute a9 "$saved/a9" AllReduceRing --nproc 3
finds "a run on another number of ranks" "^DIFFERS +AllReduceRing "

# --- what cannot be used: one sentence ---
lone=$scratch/lone
broken() { rm -rf "$lone" && cp -r "$saved/a4" "$lone"; }
broken && truncate -s 5000 "$lone/rank1.safetensors" && recompute a4 "$lone"
refuses "a file that was cut short" 2 "rank1.safetensors' is not a usable safetensors file: "
broken && truncate -s 3 "$lone/rank1.safetensors" && recompute a4 "$lone"
refuses "... to 3 bytes" 2 "it has 3 bytes, expected at least 8"
broken && printf '\xff' | dd of="$lone/rank2.safetensors" bs=1 seek=7 conv=notrunc status=none && recompute a4 "$lone"
refuses "a header of the wrong length" 2 "its header should end at byte [0-9]+, the file at "
broken && printf 'x' | dd of="$lone/rank2.safetensors" bs=1 seek=9 conv=notrunc status=none && recompute a4 "$lone"
refuses "a damaged header" 2 "its header is invalid JSON: "
broken && sed -i '0,/"F32"/s//"X32"/' "$lone/rank0.safetensors" && recompute a4 "$lone"
refuses "an unknown dtype" 2 "is of dtype 'X32', expected one of F64 F32"
broken && rm "$lone/rank1.safetensors" && recompute a4 "$lone"
refuses "a missing rank" 2 "rank1.safetensors' cannot be read: No such file or directory"
broken && recompute a4 "$lone" --nproc 5
refuses "... of those asked for" 2 "rank4.safetensors' cannot be read: No such file or directory"
broken && cp "$saved/a9/rank1.safetensors" "$lone" && recompute a4 "$lone"
refuses "a file of another lab" 2 "rank1.safetensors' is of a9_collectives, expected one of a4_data_tensor"
recompute a4 "$scratch"
refuses "a folder without files" 2 "has no rank0.safetensors: expected the folder of a lab's --save"
recompute a4 "$scratch/none"
refuses "no folder" 2 "none' cannot be read: No such file or directory"
recompute a4 "$saved/a4" DataParalel
refuses "a case that is not there" 2 "no rank has saved the case 'DataParalel'"
saved_by a9 "$scratch/more" run BroadcastBFloat16
recompute a9 "$scratch/more"
refuses "a case that only \`run\` has" 2 "'BroadcastBFloat16' has no rule in labs/a9.py, which knows the cases of a plain run"
recompute a7 "$saved/a4"
refuses "an unknown lab" 2 "invalid choice: 'a7'.*usage: recompute.py LAB DIR"
recompute a4 "$saved/a4" --nproc 0
refuses "no ranks" 2 "argument --nproc: expected 1 or more, got 0"
recompute
refuses "no arguments" 2 "the following arguments are required: LAB, DIR.*usage: "

# --- read_saved.py as a command ---
run "$python" "$folder/read_saved.py" "$saved/a4/rank1.safetensors" InputGrad.weight
verdict "$([[ $code == 0 && $(cat "$scratch/out") =~ ^InputGrad.weight.W\ +F32\ +\[64,\ 32\]\ +-2\ to\ 2,\ mean\ -0.0[0-9]+$ ]]; echo $?)" "read_saved.py FILE TEXT"
run "$python" "$folder/read_saved.py" "$scratch/more/rank1.safetensors"
verdict "$([[ $code == 0 ]] && whole_line '^BroadcastBFloat16.actual.out +BF16 +\[3, 5\] +-1 to 1, mean '; echo $?)" "... of bfloat16"
run "$python" "$folder/read_saved.py" "${LAB_SOURCE_DIR:?}/vae_sequence_parallel/checkpoint/small.safetensors" decoder.conv_in.bias
verdict "$([[ $code == 0 ]] && whole_line '^decoder.conv_in.bias +F16 +\[64\] +-'; echo $?)" "... of float16"
run "$python" "$folder/read_saved.py" "$0"
refuses "read_saved.py of another file" 2 "recompute_test.sh' is not a usable safetensors file: "
run "$python" "$folder/read_saved.py"
refuses "read_saved.py of nothing" 2 "^usage: read_saved.py FILE"
# --- what must be found: a bit of any kind of tensor, on any rank; the files stay changed ---

# finds_changes LAB CHANGE...: each CHANGE is a rank, a case and a tensor.
finds_changes() {
  local lab=$1 change rank case name cases=()
  shift
  for change; do
    read -r rank case name <<<"$change"
    cases+=("$case")
    changed "$case.$name" "$saved/$lab/rank$rank.safetensors"
  done
  recompute "$lab" "$saved/$lab" "${cases[@]}"
  for change; do
    read -r rank case name <<<"$change"
    finds "a bit of $lab's $case.$name on rank $rank" "^ +rank $rank: $name "
  done
}
finds_changes a4 "1 DataParallel actual.W" "2 BroadcastParallel input.grad_out"
finds_changes a5 "1 Layer5 expected.layer5.fc2" "0 Outputs input.micro_batch3" "3 ZeroBubbleH1_64 actual.layer12.fc1.grad"
finds_changes a9 "3 AllReduceRing actual.out" "1 TensorParallelGrad actual.q_proj_shard.grad" "0 AllReduceInt64 actual.x"
finds_changes vae "2 Conv2dStride2 actual.out" "3 AttnBlockGradient weight.proj_out.weight" "1 Reconstruction actual.image"
finds_changes optC "2 PipeDream actual.chain5.weight" "0 TensorEpoch1 actual.fc1.weight" "1 Gpipe input.pixels"

verdict "$([[ -z $(find "$folder" -name __pycache__) ]]; echo $?)" "nothing is left in the source tree"
finish
