#!/usr/bin/env bash
# Runs the labs' reference solutions with parameters drawn at random: lab, seed, ranks, sizes, dtype, schedule, world
# and threads. Right code must never be called wrong: every run ends with exit code 0, and no line says False except the
# one that A4 expects to.
# usage: sweep.sh [--runs N] [--seed S]     at least N runs, and more until each value of each factor was drawn 100 times
#        sweep.sh --one SEED                one run again, with its output
# Needs LAB_BIN_DIR. A failed run prints its seed, which determines all of its parameters.
set -euo pipefail
bin=${LAB_BIN_DIR:?where the programs are}
declare -A programs=([a4]=a4_data_tensor [a5]=a5_pipeline [a9]=a9_collectives [vae]=vae_sequence_parallel [optC]=optC_model_parallel)
readonly min_per_value=${LAB_SWEEP_MIN:-100}

# draw FACTOR VALUE...: one of the values into `drawn`, noted for the count.
draw() {
  local factor=$1
  shift
  drawn=${*:1 + RANDOM % $#:1}
  factors+=("$factor=$drawn")
}

# compose SEED: the run's command line into the array `command`, its values into `factors`.
compose() {
  local lab seed size dtype kind P options=() ranks=({1..8})
  RANDOM=$(($1 % 32768)) factors=() command=()
  : $RANDOM $RANDOM  # the first is nearly the seed
  draw lab a4 a5 a9 vae optC; lab=$drawn
  draw seed {1..20}; seed=$drawn
  draw size 0 1 2 3; size=$drawn
  draw threads 1 all
  [[ $drawn == all ]] || command=(taskset -c 0)
  draw world processes threads; options=(--seed "$seed" --world "$drawn" --timeout 300)
  case $lab in
    a5)
      draw a5.dtype float32 float64 bfloat16; dtype=$drawn
      draw a5.schedule afab 1f1b interleaved zb-h1; options+=(--dtype "$dtype" --schedule "$drawn") ;;
    optC)
      draw optC.dtype float32 float64; options+=(--dtype "$drawn")
      draw optC.way pipeline tensor; kind=$drawn
      if [[ $kind == tensor ]]; then
        ranks=(1 2 3 4 5 6 8)  # those that divide the model's widths
        draw optC.model pair pair-norm
      else
        draw optC.schedule gpipe 1f1b interleaved pipedream pipedream-2bw
        [[ $drawn != interleaved ]] || ranks=({1..4})  # two chunks each of the model's layers
      fi ;;
  esac
  local chosen=$drawn
  draw ranks "${ranks[@]}"; P=$drawn
  options+=(--nproc "$P")
  case $lab.${kind:-} in
    a5.) options+=(--global-batch-size $((4 * P))) ;;
    optC.tensor) options+=(--model "$chosen") ;;
    optC.pipeline) options+=(--schedule "$chosen" --model deep --micro-batches $((P < 4 ? 2 * P : P))) ;;
  esac
  case $lab$size in
    a40) options+=(--global-batch-size $((4 * P)) --input-dim $((3 * P)) --output-dim "$P" --accumulation-steps 4) ;;
    a41) options+=(--global-batch-size $((24 * P)) --input-dim $((8 * P)) --output-dim $((8 * P)) --accumulation-steps 8) ;;
    a42) options+=(--global-batch-size $((40 * P)) --input-dim $((65 * P)) --output-dim $((3 * P)) --accumulation-steps 5) ;;
    a43) options+=(--global-batch-size 840 --input-dim 840 --output-dim 840 --accumulation-steps 7) ;;
    a50) options+=(--number-of-layers $((2 * P + 2))) ;;
    a51) options+=(--hidden-size 256 --intermediate-size 896 --sequence-length 16 --number-of-layers $((2 * P + 1))) ;;
    a52) options+=(--hidden-size 16 --intermediate-size 40 --sequence-length 256 --number-of-layers $((2 * P))) ;;
    a53) options+=(--hidden-size 32 --intermediate-size 64 --number-of-layers 40) ;;
    vae*) local pixels=(64 72 104 136); options+=(--size "${pixels[size]}") ;;
    optC0) options+=(--train-images 96 --test-images 32 --epochs 2 --batch-size 32) ;;
    optC1) options+=(--train-images 130 --test-images 50 --epochs 1 --batch-size 40) ;;
    optC2) options+=(--train-images 250 --test-images 64 --epochs 1 --batch-size 50) ;;
    optC3) options+=(--train-images 64 --test-images 33 --epochs 3 --batch-size 16) ;;
  esac
  command+=("$bin/${programs[$lab]}" ${kind:+"$kind"} "${options[@]}")
}

# rarest: how often the least drawn value of any factor was drawn. Schedules and models are not counted.
rarest() {
  for value in "${!counts[@]}"; do echo "${counts[$value]} $value"; done | grep -vE '\.(schedule|model|way)=' | sort -n |
    awk 'NR == 1 {print $1}'
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# run SEED: runs it and prints why it failed, if it did.
run() {
  local code=0 num_false expected=0
  compose "$1"
  (cd "$scratch" && "${command[@]}" --out "$scratch/out" >"$scratch/log" 2>"$scratch/err" </dev/null) || code=$?
  [[ ${command[*]} != *a4_data_tensor* ]] || expected=1
  num_false=$(grep -c 'match: False' "$scratch/log" || true)
  [[ $code != 0 || $num_false != "$expected" ]] || return 0
  echo "FAILED  --one $1: exit code $code, $num_false lines say False, expected $expected"
  echo "        ${command[*]}"
  grep -h 'match: False' "$scratch/log" | head -n 3 | sed 's/^/        /' || true
  head -n 3 "$scratch/err" | sed 's/^/        stderr: /'
  return 1
}

master=$RANDOM num_runs=2000 one=''
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
num_failed=0 done_runs=0 least=0
while ((done_runs < num_runs || (least < min_per_value && done_runs < 2 * num_runs))); do
  run $((master + done_runs)) || num_failed=$((num_failed + 1))
  for value in "${factors[@]}"; do counts[$value]=$((${counts[$value]:-0} + 1)); done
  done_runs=$((done_runs + 1))
  ((done_runs % 100)) || echo "sweep: $done_runs runs, $num_failed failed, $SECONDS s"
  ((done_runs < num_runs)) || least=$(rarest)
done
for value in "${!counts[@]}"; do echo "$value ${counts[$value]}"; done | sort -V | paste -sd' ' | fold -s -w 118
echo "sweep: $done_runs runs, $num_failed failed; the rarest value was drawn $least times; $SECONDS s"
[[ $num_failed == 0 ]] && ((least >= min_per_value))
