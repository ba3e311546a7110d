#!/usr/bin/env bash
# Runs the labs' reference solutions with parameters drawn at random: lab, seed, ranks, sizes, dtype, schedule, world
# and threads. Right code must never be called wrong: every run ends with exit code 0, and no line says False except the
# one that A4 expects to.
# usage: sweep.sh [--runs N] [--seed S]     at least N runs, and more until each value of each factor was drawn 100 times
#        sweep.sh --one SEED                one run again, with its output
# Needs LAB_BIN_DIR. A failed run prints its seed, which determines all of its parameters.
set -euo pipefail
bin=${LAB_BIN_DIR:?where the programs are}
readonly min_per_value=${LAB_SWEEP_MIN:-100}

# splitmix64: one step, into `random`.
random=0
next_random() {
  local z
  state=$((state + 0x9e3779b97f4a7c15))
  z=$state
  z=$(((z ^ ((z >> 30) & 0x3ffffffff)) * 0xbf58476d1ce4e5b9))
  z=$(((z ^ ((z >> 27) & 0x1fffffffff)) * 0x94d049bb133111eb))
  random=$(((z ^ ((z >> 31) & 0x1ffffffff)) & 0x7fffffffffffffff))
}

# draw FACTOR VALUE...: one of the values into `drawn`, noted for the count.
draw() {
  next_random
  local factor=$1
  shift
  drawn=${*:1 + random % $#:1}
  factors+=("$factor=$drawn")
}

# The four sizes of a lab: options in which P is the number of ranks.
a4_sizes() {
  case $1 in
    0) echo "--global-batch-size $((4 * P)) --input-dim $((3 * P)) --output-dim $P --accumulation-steps 4" ;;
    1) echo "--global-batch-size $((24 * P)) --input-dim $((8 * P)) --output-dim $((8 * P)) --accumulation-steps 8" ;;
    2) echo "--global-batch-size $((40 * P)) --input-dim $((65 * P)) --output-dim $((3 * P)) --accumulation-steps 5" ;;
    3) echo "--global-batch-size 840 --input-dim 840 --output-dim 840 --accumulation-steps 7" ;;
  esac
}
a5_sizes() {
  case $1 in
    0) echo "--number-of-layers $((2 * P + 2))" ;;
    1) echo "--hidden-size 256 --intermediate-size 896 --sequence-length 16 --number-of-layers $((2 * P + 1))" ;;
    2) echo "--hidden-size 16 --intermediate-size 40 --sequence-length 256 --number-of-layers $((2 * P))" ;;
    3) echo "--hidden-size 32 --intermediate-size 64 --number-of-layers 40" ;;
  esac
}
vae_sizes() {
  case $1 in
    0) echo "--size 64" ;; 1) echo "--size 72" ;; 2) echo "--size 104" ;; 3) echo "--size 136" ;;
  esac
}
optc_sizes() {
  case $1 in
    0) echo "--train-images 96 --test-images 32 --epochs 2 --batch-size 32" ;;
    1) echo "--train-images 130 --test-images 50 --epochs 1 --batch-size 40" ;;
    2) echo "--train-images 250 --test-images 64 --epochs 1 --batch-size 50" ;;
    3) echo "--train-images 64 --test-images 33 --epochs 3 --batch-size 16" ;;
  esac
}

# compose SEED: the run's command line into the array `command`, its values into `factors`.
compose() {
  local lab seed size dtype threads world kind options ranks=({1..8})
  state=$1 factors=() command=()
  draw lab a4 a5 a9 vae optC; lab=$drawn
  draw seed {1..20}; seed=$drawn
  draw size 0 1 2 3; size=$drawn
  draw threads 1 all; threads=$drawn
  draw world processes threads; world=$drawn
  [[ $threads == all ]] || command+=(taskset -c 0)
  case $lab in
    a4 | a9 | vae) draw ranks {1..8}; P=$drawn ;;&
    a4) command+=("$bin/a4_data_tensor"); options=$(a4_sizes "$size") ;;
    a5)
      draw a5.dtype float32 float64 bfloat16; dtype=$drawn
      draw a5.schedule afab 1f1b interleaved zb-h1; kind=$drawn
      draw ranks {1..8}; P=$drawn
      command+=("$bin/a5_pipeline" --dtype "$dtype" --schedule "$kind" --global-batch-size $((4 * P)))
      options=$(a5_sizes "$size") ;;
    a9) command+=("$bin/a9_collectives"); options='' ;;
    vae) command+=("$bin/vae_sequence_parallel"); options=$(vae_sizes "$size") ;;
    optC)
      draw optC.way pipeline tensor; kind=$drawn
      draw optC.dtype float32 float64; dtype=$drawn
      command+=("$bin/optC_model_parallel" "$kind" --dtype "$dtype")
      options=$(optc_sizes "$size")
      if [[ $kind == pipeline ]]; then
        draw optC.schedule gpipe 1f1b interleaved pipedream pipedream-2bw; kind=$drawn
        if [[ $kind == interleaved ]]; then ranks=({1..4}); fi  # two chunks each of the model's layers
        draw ranks "${ranks[@]}"; P=$drawn
        command+=(--schedule "$kind" --model deep --micro-batches $((P < 4 ? 2 * P : P)))
      else
        draw optC.model pair pair-norm; kind=$drawn
        draw ranks 1 2 3 4 5 6 8; P=$drawn  # those that divide the model's widths
        command+=(--model "$kind")
      fi ;;
  esac
  # shellcheck disable=SC2206  # options are words
  command+=(--nproc "$P" --seed "$seed" --world "$world" --timeout 300 $options)
}

# rarest: how often the least drawn value of any factor was drawn. Schedules and models are not counted.
rarest() {
  local value least=$done_runs
  for value in "${!counts[@]}"; do
    case $value in *.schedule=* | *.model=* | *.way=*) continue ;; esac
    if ((counts[$value] < least)); then least=${counts[$value]}; fi
  done
  echo "$least"
}

# judge CODE FILE: why the output is not that of right code; nothing if it is.
judge() {
  local code=$1 file=$2 expected=0 found
  case ${command[*]} in *a4_data_tensor*) expected=1 ;; esac
  found=$(grep -c 'match: False' "$file" || true)
  if [[ $code != 0 ]]; then echo "exit code $code"; fi
  if [[ $found != "$expected" ]]; then echo "$found lines say False, expected $expected"; fi
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# run SEED: runs it and prints why it failed, if it did.
run() {
  local code=0 why
  compose "$1"
  (cd "$scratch" && "${command[@]}" --out "$scratch/out" >"$scratch/log" 2>"$scratch/err" </dev/null) || code=$?
  why=$(judge "$code" "$scratch/log")
  [[ $why ]] || return 0
  echo "FAILED  --one $1: ${why//$'\n'/, }"
  echo "        ${command[*]}"
  grep -h 'match: False' "$scratch/log" | head -n 3 | sed 's/^/        /' || true
  head -n 3 "$scratch/err" | sed 's/^/        stderr: /'
  return 1
}

master=$((RANDOM * 32768 + RANDOM)) num_runs=2000 one=''
while [[ $# -gt 0 ]]; do
  case $1 in
    --runs) num_runs=$2 ;; --seed) master=$2 ;; --one) one=$2 ;;
    *) echo "sweep: unknown option '$1'; it knows --runs N, --seed S and --one SEED" >&2; exit 2 ;;
  esac
  shift 2
done

if [[ $one ]]; then
  code=0
  run "$one" || code=1
  echo "${command[*]}"
  cat "$scratch/log"
  cat "$scratch/err" >&2
  exit "$code"
fi

echo "sweep: at least $num_runs runs, drawn from --seed $master"
declare -A counts=()
num_failed=0 done_runs=0 state=$master
picked=$master
while :; do
  if ((done_runs >= num_runs)); then
    least=$(rarest)
    if ((least >= min_per_value || done_runs >= 2 * num_runs)); then break; fi
  fi
  state=$picked
  next_random
  picked=$random
  run "$picked" || num_failed=$((num_failed + 1))
  for value in "${factors[@]}"; do counts[$value]=$((${counts[$value]:-0} + 1)); done
  done_runs=$((done_runs + 1))
  if ((done_runs % 100 == 0)); then echo "sweep: $done_runs runs, $num_failed failed, $SECONDS s"; fi
done
for value in "${!counts[@]}"; do echo "$value ${counts[$value]}"; done | sort -V | paste -sd' ' | fold -s -w 118
echo "sweep: $done_runs runs, $num_failed failed; the rarest value was drawn $least times; $SECONDS s"
[[ $num_failed == 0 ]] && ((least >= min_per_value))
