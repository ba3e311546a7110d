#!/usr/bin/env bash
# The program as a user sees it: every number of stages and way to launch, its commands, bad input, a killed stage.
source "$(dirname -- "$(readlink -f -- "$0")")/../../common/testing/program_checks.sh"
lab=a5_pipeline
program=$bin/$lab
has() { grep -qE -- "$1" "$scratch/out"; echo $?; }
num_true() { grep -c 'Tensors match: True' "$scratch/out"; }

explains_itself "$program"
for num_ranks in 1 2 3 4 5 8; do
  right "$num_ranks stages" "$num_ranks" --nproc "$num_ranks"
done
right "--pp is the handout's name for --nproc" 3 --pp 3
right "8 stages that are threads" 8 --world threads --pp 8
run "$bin/labrun" --standalone --nproc-per-node 3 "$program"
accepts "labrun" $lab 3
run "$bin/labrun" --standalone --nproc-per-node 2 "$program" --pp 4
verdict "$([[ $code == 2 && $(grep -c 'error: --pp 4: labrun started 2 ranks; hint: leave --pp out$' "$scratch/err") == 2 ]]; echo $?)" "--pp that is not what labrun started is refused on each rank"
run env OUT="$scratch" "${LAB_SOURCE_DIR:?}/a5_pipeline/run.sh" --seed 7
run "$program" check-log "$scratch/$lab.log" --nproc 4
verdict "$code" "run.sh leaves a log that is accepted"
run "$program" check pipeline_communicate --pp 3
verdict "$([[ $code == 0 && $(cat "$scratch/out") == 'a5.pipeline_communicate: 1 of 1 checks right on 3 ranks' ]]; echo $?)" "check TASK"

# Other schedules, other dtypes.
for kind in 1f1b zb-h1; do
  right "--schedule $kind" 3 --pp 3 --schedule $kind
done
run "$program" --pp 2
expected=$(num_true)
run "$program" --pp 2 --schedule interleaved --chunks 2
verdict "$([[ $code == 0 && $(num_true) == "$expected" ]] && has '^\[Rank 0\] has layers 0-2,6-7$')" "--schedule interleaved: as many lines, other layers"
run "$program" --pp 2 --schedule interleaved --no-cases
verdict "$([[ $code == 0 && $(num_true) == 11 ]] && has '^\[Rank 1\] has layers 3-5,8-9$')" "... with two chunks unless told otherwise, and with --no-cases only the large model"
run "$program" --pp 2 --dtype float64
verdict "$([[ $code == 0 && $(num_true) == "$expected" ]] && has 'schedule afab, float64\): outputs and gradients, to 7.5e-14')" "--dtype float64: within 7.5e-14"
run "$program" --pp 2 --dtype bfloat16
verdict "$([[ $code == 0 && $(num_true) == "$expected" ]] && has 'schedule afab, bfloat16\):')" "--dtype bfloat16"
for isa in SSE41 AVX2; do
  run env ONEDNN_MAX_CPU_ISA=$isa ATEN_CPU_CAPABILITY=default "$program" --pp 2 --dtype bfloat16 --no-cases --schedule zb-h1
  verdict "$([[ $code == 0 && $(num_true) == 11 ]]; echo $?)" "--dtype bfloat16 on a CPU with $isa only"
done
# Seeds and kernels with which sums depend on the number of threads: the baseline runs with a stage's.
for seed in 1 6 13; do
  run env OPENBLAS_CORETYPE=Haswell "$program" --pp 4 --no-cases --activation relu --seed $seed
  verdict "$([[ $code == 0 && $(grep -c 'True | Max diff: 0.000000e+00' "$scratch/out") == 11 ]]; echo $?)" "the handout's model, seed $seed: no difference at all"
done
run "$bin/labrun" --standalone --nproc-per-node 2 "$program" --no-cases --timeout 1 --schedule 1f1b --hidden-size 256 --intermediate-size 896 \
  --sequence-length 128 --global-batch-size 64 --micro-batch-size 1  # as much work in more steps: a busy machine takes no 1 s for one
verdict "$([[ $code == 0 && $(num_true) == 11 ]]; echo $?)" "a baseline that takes longer than --timeout, under labrun"
run "$program" --pp 2 --number-of-layers 5 --global-batch-size 6 --hidden-size 24 --sequence-length 5 --intermediate-size 40 --trace "$scratch/trace.json"
verdict "$([[ $code == 0 && $(grep -c '^\[Layer[0-4]\]' "$scratch/out") == 5 ]]; echo $?)" "other sizes: a line for each layer"
verdict "$([[ $(grep -c '"name": "F0"' "$scratch/trace.json") -ge 2 && $(grep -c '"name": "B2"' "$scratch/trace.json") -ge 2 ]]; echo $?)" "--trace has each stage's computations by name"

# Invalid arguments.
run "$program" --pp 4 --nproc 2; refuses "two numbers of ranks" 2 "--pp 4 and --nproc 2: expected one number of ranks, got two"
run "$program" --pp 8 --number-of-layers 3; refuses "fewer layers than stages" 2 "--number-of-layers 3: expected at least one layer for each of the 8 stages"
run "$program" --micro-batch-size 3; refuses "a batch that is not divisible" 2 "--global-batch-size 16: expected a multiple of the micro-batch size, 3"
run "$program" --pp 3 --schedule interleaved; refuses "interleaved with a remainder" 2 "expected a multiple of 3 micro-batches, as many as ranks, got 8"

# One task, one case.
run "$program" run all_forward_all_backward --pp 3
verdict "$([[ $code == 0 && $(num_true) == 15 ]]; echo $?)" "run TASK runs its five cases on each rank"
run "$program" run Communicate --pp 2
verdict "$([[ $code == 0 && $(num_true) == 2 ]]; echo $?)" "run CASE runs that one"
run "$program" run comunicate; refuses "an unknown case" 2 "run comunicate: unknown case or task; did you mean 'Communicate'?"

# Schedules on paper: p 4, m 8, forward 1 ms, backward 2 ms.
makespan() { # makespan KIND MS ARGUMENTS...
  run "$program" schedule --text --kind "$1" "${@:3}"
  verdict "$([[ $code == 0 ]] && has "^makespan $2 ms, bubble")" "schedule $1 ${*:3}: makespan $2 ms"
}
makespan afab 33
makespan 1f1b 33
makespan interleaved 28.5
makespan zb-h1 27
makespan afab 33 --blocking
run "$program" schedule --kind 1f1b --blocking --text
refuses "schedule 1f1b --blocking hangs, and says who waits for whom" 6 "deadlock: rank [0-3] waits for its send_forward of micro-batch [0-9] to rank [1-3], rank [0-3] waits for its send_backward"
run "$program" schedule --kind 1f1b --text --sim --message-bytes 0B --latency 100
if grep -q 'no SimGrid' "$scratch/err"; then skip "this build has no simulated network"; else
  verdict "$([[ $code == 0 && $(grep '^makespan' "$scratch/out" | sort -u | wc -l) == 1 && $(grep -c '^makespan' "$scratch/out") == 2 ]] && has '^on a simulated star, 100 us, 1.25 GB/s, 0 B a message$')" "schedule --sim: empty messages take as long on the network as on paper"
  right "the lab itself in the simulated world" 3 --world sim --pp 3
fi
if command -v rsvg-convert >/dev/null; then
  run "$program" schedule --kind 1f1b --out "$scratch/pictures"
  verdict "$([[ $code == 0 && $(head -c 4 "$scratch/pictures/schedule_1f1b_4x8.png" | tail -c 3) == PNG ]]; echo $?)" "schedule draws a PNG"
  run "$program" schedule --kind zb-h1 --messages --plot "$scratch/zb.svg"
  verdict "$([[ $code == 0 ]] && grep -q '<svg' "$scratch/zb.svg" && has '^drawn: .*/zb.svg$')" "... and an SVG, where it is told to"
else skip "rsvg-convert is not installed"; fi

survives_killed 2 "$program"
# Most of this run's time is the baseline's.
dies_with_launcher "$program" --no-cases --hidden-size 512 --intermediate-size 1792 --sequence-length 128

finish
