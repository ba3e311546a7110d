#!/usr/bin/env bash
# The program as a user sees it: every number of ranks and way to launch, one training alone, real and damaged files,
# bad input, a rank killed in the middle of an epoch and the resumption.
source "$(dirname -- "$(readlink -f -- "$0")")/../../common/testing/program_checks.sh"
lab=optC_model_parallel
program=$bin/$lab
out=$scratch/results
small=(--train-images 64 --test-images 32)
has() { grep -qE -- "$1" "$scratch/out"; echo $?; }
num_true() { grep -c 'Tensors match: True' "$scratch/out"; }

explains_itself "$program"
right "4 ranks" 4 --nproc 4 --out "$out" "${small[@]}"
verdict "$([[ -s $out/optC_Pipeline_steps.csv && -s $out/optC_Tensor_epochs.csv ]]; echo $?)" "... and tables of the curves"
if command -v gnuplot >/dev/null && command -v rsvg-convert >/dev/null; then
  verdict "$([[ $(head -c 4 "$out/optC_Pipeline_loss.png" | od -An -c) == *P*N*G* && -s $out/optC_Tensor_accuracy.svg ]]; echo $?)" "... and the curves"
else skip "gnuplot or rsvg-convert is not installed"; fi
right "2 ranks that are threads" 2 --world threads --nproc 2 --out "$out" "${small[@]}"
right "one rank" 1 --nproc 1 --out "$out" "${small[@]}"
right "6 ranks: a deeper model" 6 --world threads --nproc 6 --out "$out" "${small[@]}"
run "$program" check gpipe --nproc 3
verdict "$([[ $code == 0 && $(head -n 1 "$scratch/out") == 'optC.gpipe: 6 of 6 checks right on 3 ranks' ]]; echo $?)" "check TASK"
verdict "$([[ $code == 0 ]] && has '^  GpipeLong: speed-up [0-9.]+ of 3 [|] work [0-9.]+ [|] waiting [0-9]+ % [|] peak [0-9.]+ of serial$')" "... and says how the ranks shared the work"

# One training alone.
for words in "pipeline --schedule 1f1b --nproc 3" "pipeline --schedule interleaved --nproc 2 --micro-batches 4" \
  "pipeline --schedule gpipe --recompute --nproc 2 --micro-batches 7" "pipeline --schedule pipedream --nproc 4" \
  "pipeline --schedule pipedream-sync --nproc 3" "pipeline --schedule pipedream-2bw --nproc 4" \
  "tensor --model pair --nproc 5" "tensor --nproc 3 --optimizer adam --lr 0.001" "tensor --model vit --nproc 2" \
  "tensor --model resnet --nproc 3"; do
  command=${words%% *} num_ranks=$(grep -oE -- '--nproc [0-9]' <<<"$words" | grep -oE '[0-9]')
  read -ra arguments <<<"$words"
  run "$program" "${arguments[@]}" "${small[@]}" --out "$scratch/one"
  cp "$scratch/out" "$scratch/$command.log"
  saved=$code
  run "$program" "$command" check-log "$scratch/$command.log" --nproc "$num_ranks"
  verdict "$([[ $saved == 0 && $code == 0 ]]; echo $?)" "$words"
done
run "$program" pipeline "${small[@]}" --dtype float32 --epochs 2 --out "$scratch/one"
verdict "$([[ $code == 0 && $(num_true) == 0 ]] && has "epoch 2: float32 draws curves and has no verdict; this rank's weights are [0-9.e-]+ from one process's")" "float32: no verdict, and why"
run "$program" pipeline --world sim --nproc 3 "${small[@]}" --epochs 1 --out "$scratch/one"
if grep -q 'no SimGrid' "$scratch/err"; then skip "this build has no simulated network"; else
  verdict "$([[ $code == 0 && $(num_true) == 5 ]]; echo $?)" "a pipeline in the simulated world"
fi
run "$program" single "${small[@]}" --epochs 1 --out "$scratch/single"
verdict "$([[ $code == 0 && -s $scratch/single/optC_single_tutorial.safetensors ]] && has '^epoch 1: test loss [0-9.]+, accuracy [0-9.]+$')" "single"
run "$program" compare "${small[@]}" --epochs 1 --runs gpipe,pair --nproc 2 --out "$scratch/compare"
verdict "$([[ $code == 0 && -s $scratch/compare/optC_tutorial_steps.csv ]] && has '^gpipe +tutorial .*True$')" "compare"

# Real images, and invalid files.
data=$(dirname -- "$LAB_SOURCE_DIR")/shared/data
if [[ -r $data/cifar10_lossless_test_1017.bin ]]; then
  run "$program" pipeline --data "$data" "${small[@]}" --epochs 1 --out "$scratch/real"
  verdict "$([[ $code == 0 ]] && has '; 64 training and 32 test images, 1 epochs$')" "real images"
  mkdir "$scratch/short"
  head -c 30000 "$data/cifar10_lossless_train_5085.bin" >"$scratch/short/data_batch_1.bin"
  head -c 30730 "$data/cifar10_lossless_test_1017.bin" >"$scratch/short/test_batch.bin"
  run "$program" single --data "$scratch/short" --out "$out"; refuses "a truncated file" 2 "data_batch_1.bin.*3073"
  head -c 30730 /dev/zero | tr '\0' '\377' >"$scratch/short/data_batch_1.bin"
  run "$program" pipeline --data "$scratch/short" --out "$out"; refuses "invalid labels" 2 "data_batch_1.bin.*label"
else skip "there are no real images at hand"; fi
run "$program" --data "$scratch/absent" --out "$out"; refuses "a folder that is not there" 2 "absent"

# Bad input.
run "$program" pipeline --nproc 6 --model tutorial --out "$out"; refuses "more stages than layers" 2 "6 stages.*5 layers.*--model deep"
run "$program" pipeline --nproc 9 --out "$out"; refuses "more stages than any usual model has layers" 2 "9 stages.*8 layers"
run "$program" pipeline --schedule interleaved --micro-batches 6 --out "$out"; refuses "interleaved with a rest" 2 "multiple"
run "$program" pipeline --schedule pipedream-2bw --micro-batches 2 --out "$out"; refuses "2BW with too few micro-batches" 2 "micro-batches"
run "$program" pipeline --schedule gpipe --chunks 2 --out "$out"; refuses "chunks without interleaved" 2 "interleaved"
run "$program" tensor --nproc 7 --out "$out"; refuses "a width that does not divide" 2 "7"
run "$program" tensor --model vit --nproc 3 --out "$out"; refuses "heads that do not divide" 2 "vit"
run "$program" tensor --model deep --out "$out"; refuses "a model of another kind" 2 "deep.*pair"
run "$program" compare --runs gpipe,nothing --out "$out"; refuses "a run that is not there" 2 "got 'nothing'"
run "$program" pipeline "${small[@]}" --lr 1e6 --out "$out"; refuses "a loss that explodes" 2 "the loss is -?(nan|inf) at step [0-9]+ \(epoch [0-9], batch [0-9] of 2\)"

# A rank killed in the middle: the others stop, and the training goes on from its checkpoint to the same bits.
long=(pipeline --schedule 1f1b --train-images 640 --test-images 32 --epochs 2 --checkpoint-every 4)
run "$program" "${long[@]}" --out "$scratch/whole" --save "$scratch/whole"
verdict "$code" "a training with checkpoints"
"$program" "${long[@]}" --out "$scratch/broken" --save "$scratch/broken" >"$scratch/out" 2>"$scratch/err" &
pid=$!
for _ in $(seq 600); do
  [[ -z $(compgen -G "$scratch/broken/optC_checkpoints/Pipeline/*0000012.rank0*") ]] || break
  sleep 0.05
done
mapfile -t ranks < <(pgrep -P "$pid")
kill -KILL "${ranks[2]}"
before=$SECONDS code=0
wait "$pid" || code=$?
verdict "$([[ $code == 137 && $((SECONDS - before)) -lt 10 ]] && grep -q 'rank 2: killed by signal 9' "$scratch/err"; echo $?)" "a rank killed in the middle of an epoch ends the run"
run "$program" "${long[@]}" --out "$scratch/broken" --save "$scratch/broken" --resume
same=0
for rank in 0 1 2 3; do cmp -s "$scratch/whole/rank$rank.safetensors" "$scratch/broken/rank$rank.safetensors" || same=1; done
verdict "$([[ $code == 0 && $same == 0 ]]; echo $?)" "... and resumed, it ends with the same bits"
cmp -s "$scratch/whole/optC_Pipeline_steps.csv" "$scratch/broken/optC_Pipeline_steps.csv"
verdict $? "... and the same curve"
run "$program" "${long[@]}" --lr 0.02 --out "$scratch/broken" --resume; refuses "checkpoints of another training" 2 "learning rate"
file=$(compgen -G "$scratch/broken/optC_checkpoints/Pipeline/*.rank1.safetensors" | sort | tail -n 1)
printf '\377' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") / 2)) conv=notrunc status=none
run "$program" "${long[@]}" --out "$scratch/broken" --save "$scratch/broken" --resume
for rank in 0 1 2 3; do cmp -s "$scratch/whole/rank$rank.safetensors" "$scratch/broken/rank$rank.safetensors" || same=1; done
verdict "$([[ $code == 0 && $same == 0 ]] && grep -q "rank 1: Pipeline: checkpoint of step 40: '.*rank1.safetensors' is damaged: it has the checksum" "$scratch/err" && grep -q 'rank 0: Pipeline: --resume: the training goes on from step 36 of' "$scratch/err"; echo $?)" "a damaged checkpoint: the one before serves"
cp -r "$scratch/broken" "$scratch/damaged"
truncate -s -1 "$scratch"/damaged/optC_checkpoints/Pipeline/step*.rank1.safetensors
run "$program" "${long[@]}" --out "$scratch/damaged" --resume
refuses "... and none is left: all ranks say so, and none that it starts over" 2 "--resume: no step is left that all ranks have intact: rank 1: checkpoint of step"
run "$program" pipeline "${small[@]}" --dtype float32 --epochs 1 --checkpoint-every 4 --out "$scratch/one" --checkpoint-dir "$scratch/mistyped" --resume
verdict "$([[ $code == 0 ]] && grep -q "NOTHING TO GO ON FROM: there is no folder '.*mistyped" "$scratch/err"; echo $?)" "--resume in a mistyped folder says so"

run "$program" pipeline "${small[@]}" --schedule pipedream --checkpoint-every 2 --out "$scratch/drained"
verdict "$([[ $code == 0 && $(num_true) == 18 ]]; echo $?)" "PipeDream, drained for checkpoints, equals its formula drained as often"

# The measurement, scaled down.
run "$program" memory --micro-batches 20,60 --schedule 1f1b
verdict "$([[ $code == 0 ]]; echo $?)" "memory"

mkdir "$scratch/killed" && cd "$scratch/killed" && survives_killed 2 "$program"

finish
