#!/usr/bin/env bash
# The program as a user sees it: every way to launch it, every bad input, a killed rank, Ctrl-C.
source "$(dirname -- "$(readlink -f -- "$0")")/../../common/testing/program_checks.sh"
lab=a4_data_tensor
program=$bin/$lab

explains_itself "$program"
for num_ranks in 1 2 4 8; do
  right "$num_ranks ranks" "$num_ranks" --nproc "$num_ranks"
done
right "ranks that are threads" 4 --world threads --nproc 4
best=$(grep -qw avx512vl /proc/cpuinfo && echo Prescott Haswell SkylakeX || { grep -qw avx2 /proc/cpuinfo && echo Prescott Haswell || echo Prescott; })
for core in $best; do
  run env OPENBLAS_CORETYPE="$core" "$program"
  accepts "OpenBLAS's kernels for $core" $lab 4
done

run "$program" check --nproc 4
verdict "$([[ $code == 0 && $(tail -n 1 "$scratch/out") == '8 of 8 tasks right' ]]; echo $?)" "check"
run "$program" check --nproc 3
verdict "$([[ $code == 0 && $(tail -n 1 "$scratch/out") == '8 of 8 tasks right' ]]; echo $?)" "check on ranks that do not divide the handout's sizes"
run "$program" run single_step --nproc 1 --quiet
verdict "$([[ $code == 0 ]] && grep -q '^\[Baseline\]\[Rank 0\] Tensors match: True' "$scratch/out"; echo $?)" "run single_step names the check: a line without a name that says True is a mistake's sign"
run "$program" run column_parallel --nproc 3 --quiet
verdict "$([[ $code == 0 && $(grep -c 'Tensors match: True' "$scratch/out") == 21 && $(grep -c 'skipped: 32 does not divide by 3 ranks' "$scratch/out") == 9 ]]; echo $?)" "run TASK on ranks that do not divide the handout's sizes: the other cases"
run "$program" run column_parallel --nproc 2 --quiet
verdict "$([[ $code == 0 && $(grep -c 'Tensors match: True' "$scratch/out") == 20 ]]; echo $?)" "run TASK runs all its cases on each rank"

"$program" --nproc 2 --json "$scratch/closed.json" <&- >"$scratch/out" 2>&-
code=$?
accepts "stdin and stderr closed: it works" $lab 2
verdict "$([[ $(head -c 1 "$scratch/closed.json") == '{' ]]; echo $?)" "... and its files hold nothing else"
for launch in '' "'$bin/labrun' --nproc-per-node 2"; do
  run bash -c "$launch '$program' >&-"
  verdict "$([[ $code == 2 ]] && grep -q 'cannot write to standard output: it is closed; expected a terminal, a file or a pipe' "$scratch/err"; echo $?)" "stdout closed ${launch:+under labrun }is reported"
done
run bash -c "'$program' --nproc 2 >/dev/full"; refuses "stdout full" 2 'cannot write to standard output: expected room for every line \(No space left on device\)'
run bash -c "'$program' --nproc 2 2>/dev/full"
verdict "$([[ $code == 2 ]] && "$program" check-log "$scratch/out" --nproc 2 >/dev/null; echo $?)" "stderr full: no bug in the suite"
run "$bin/labrun" --standalone --nproc-per-node 4 "$program"
accepts "labrun" $lab 4
run "$bin/labrun" --nproc_per_node=4 --log-dir "$scratch/logs" "$program"
cat "$scratch"/logs/rank*.log >"$scratch/out"
verdict "$code" "labrun --log-dir: exit code"
verdict "$([[ $(ls "$scratch/logs" | wc -l) == 8 && $(grep -c 'Tensors match: True' "$scratch/out") == 34 ]]; echo $?)" "labrun --log-dir: a file per rank"
run "$program" --nproc 2 --log-dir "$scratch/own"
# Each rank writes to its own pipe, so lines of different ranks may arrive in another order.
verdict "$([[ $code == 0 ]] && diff <(sort "$scratch/out") <(sort "$scratch"/own/*.log) >/dev/null; echo $?)" "--log-dir: the terminal sees the lines, too"
verdict "$(grep -qx '\[Rank 1\] done' "$scratch/own/rank1.log"; echo $?)" "--log-dir: rank 1's own file"
for name in torchrun mpirun srun; do
  if ! launcher $name; then
    skip "$name does not start programs here"
    continue
  fi
  case $name in
    torchrun) run "${torchrun[@]}" "${rendezvous[@]}" --nproc_per_node 4 "$program" ;;
    mpirun) run "${mpirun[@]}" -n 4 "$program" ;;
    srun) run srun -n 4 "$program" ;;
  esac
  # Launchers merge the ranks' pipes in any order, so the lines are only counted.
  verdict "$code" "$name: exit code"
  verdict "$([[ $(grep -c 'Tensors match: True' "$scratch/out") == 34 && $(grep -c . "$scratch/out") == 49 ]]; echo $?)" "$name: all lines of 4 ranks"
  verdict "$(grep -qi "as told by" "$scratch/err"; echo $?)" "$name: says who told the ranks"
done

run "$program" --nproc 2 --json "$scratch/run.json" --trace "$scratch/run.csv" --quiet
verdict "$code" "--json --trace --quiet"
verdict "$([[ $(grep -c . "$scratch/out") == 19 ]]; echo $?)" "--quiet leaves the match lines"
verdict "$(grep -q '"num_ranks": *2' "$scratch/run.json"; echo $?)" "--json: the report"
verdict "$(grep -q "^1,all,-1,.*,all_reduce,data_parallel.cpp:" "$scratch/run.csv"; echo $?)" "--trace: collectives with the student's line"
run "$program" --nproc 2 --repeat 20 --quiet
verdict "$([[ $code == 0 && $(grep -c . "$scratch/out") == 380 ]]; echo $?)" "--repeat 20 in one world"

run "$program" --no-such-option; refuses "unknown option" 2 "unknown option '--no-such-option'"
run "$program" --nproc 0; refuses "no ranks" 2 "expected an integer from 1 to 4096, got '0'"
run "$program" --nproc two; refuses "not a number" 2 "got 'two'"
run "$program" --nproc 3; refuses "a batch that does not divide" 2 "the global batch size 128 is not divisible by 3 ranks"
run "$program" --nproc 64; refuses "an output that does not divide" 2 "the output dimension 32 is not divisible by 64 ranks"
run env RANK=0 "$program"; refuses "half-set environment" 2 "RANK is set but WORLD_SIZE is not"
run env RANK=4 WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=29599 "$program"; refuses "a rank beyond the world" 2 "RANK is 4, but WORLD_SIZE is 4"
run env RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=1 "$program" --timeout 1; refuses "no rank 0 at the rendezvous" 5 "rank 1 could not reach rank 0 at 127.0.0.1:1 within 1 s"
run env RANK=0 WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=29598 "$program" --nproc 3 --global-batch-size 3 --input-dim 3 --output-dim 3 --accumulation-steps 1 --timeout 1
verdict "$([[ $code == 5 ]] && grep -q 'ranks 1, 2 of 3 did not arrive within 1 s' "$scratch/err"; echo $?)" "ranks missing at the rendezvous are named"
run env RANK=0 WORLD_SIZE=1 "$program" --timeout 0.01
verdict "$code" "a rank alone runs at once, without an address"
port=$((20000 + RANDOM % 10000))
env RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$program" --out elsewhere >"$scratch/rank0" 2>&1 &
rank0=$!
run env RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$program" --seed 7
refuses "ranks that were started differently" 2 "started differently: --seed: expected 42 as on rank 0, got 7 on rank 1; hint"
wait $rank0
verdict "$([[ $? == 2 ]] && grep -q 'expected 42 as on rank 0, got 7 on rank 1' "$scratch/rank0"; echo $?)" "... on every rank"
run env GLOO_SOCKET_IFNAME=none0 "$program"; refuses "no such interface" 2 "GLOO_SOCKET_IFNAME: .* got 'none0'"
run "$program" check-log "$scratch/none" --nproc 4; refuses "a log that is not there" 2 "cannot read"
run "$program" check-log "$scratch" --nproc 4; refuses "a folder in a log's place" 2 "it is a folder; expected the log of a run"
run bash -c "'$program' --nproc 4 | '$program' check-log - --nproc 4"
verdict "$([[ $code == 0 ]] && grep -q '^-: accepted' "$scratch/out"; echo $?)" "a log from standard input"
run "$program" --json "$scratch/none/x.json"; refuses "a report that cannot be written" 2 "there is no folder"
verdict "$([[ ! -s $scratch/out ]]; echo $?)" "... is refused before the run"
run "$program" --trace "$scratch/x.txt"; refuses "a trace of an unknown kind" 2 "ends in .json .*\.csv"
run "$program" --save /dev/null/x; refuses "a folder that cannot be made" 2 "expected a folder"
verdict "$([[ -z $(find "$scratch" -name '*.tmp') ]]; echo $?)" "nothing half-written is left"

survives_killed 2 "$program"
dies_with_launcher "$program"
run env TMPDIR=/nonexistent "$program" --nproc 2 --quiet
verdict "$code" "no temporary folder is needed"
run bash -c "ulimit -f 1; exec '$program' --nproc 2 --quiet"; refuses "a limit on file sizes" 2 "File too large"

# What a user with few processes, or little memory, gets: as root there is no limit of processes.
few=(bash -c "ulimit -u 12; exec '$program' \"\$@\"" bash) and_why='this user may have 12 processes and threads; hint: raise the limit with ulimit -u, or start fewer ranks'
as_user=()
[[ $EUID != 0 ]] || as_user=(setpriv --reuid 4242 --regid 4242 --clear-groups)
for world in processes threads; do
  "${as_user[@]}" test -x "$program" || { skip "the user that has a limit cannot start programs of this folder"; break; }
  run "${as_user[@]}" "${few[@]}" --world $world --nproc 16 --global-batch-size 128
  verdict "$([[ $code == 2 ]] && grep -q "Resource temporarily unavailable: $and_why" "$scratch/err"; echo $?)" "a limit of processes ($world) is named"
done

# As under nohup: signals that are ignored at the start stay ignored, also where a library's constructor catches them.
echo '#include <csignal>
[[gnu::constructor]] static void take() { std::signal(SIGHUP, [](int) {}), std::signal(SIGINT, [](int) {}); }' >"$scratch/take.cpp"
c++ -shared -fPIC -o "$scratch/take.so" "$scratch/take.cpp" || exit 2
late=ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0  # a sanitizer would want to be loaded first
bash -c "trap '' HUP INT; $late LD_PRELOAD=$scratch/take.so exec '$program' --nproc 4 --repeat 100 --quiet" \
  >"$scratch/out" 2>"$scratch/err" &
leader=$!
for _ in $(seq 200); do
  [[ $(pgrep -c -P "$leader") == 4 ]] && break
  sleep 0.05
done
kill -HUP "$leader"
kill -INT "$leader"
code=0
wait "$leader" || code=$?
verdict "$([[ $code == 0 && $(grep -c 'Tensors match: True' "$scratch/out") == 3400 ]]; echo $?)" "SIGHUP and SIGINT, ignored at the start, do not end it"

# Ctrl-C, to the launcher alone and to its whole group. (A shell starts background commands with SIGINT ignored.)
for target in process group; do
  setsid env --default-signal=INT "$program" --nproc 4 --repeat 1000000 --quiet >/dev/null 2>"$scratch/err" &
  leader=$!
  for _ in $(seq 200); do
    [[ $(pgrep -c -P "$leader") == 4 ]] && break
    sleep 0.05
  done
  sleep 0.3
  if [[ $target == group ]]; then kill -INT -- "-$leader"; else kill -INT "$leader"; fi
  code=0
  wait "$leader" || code=$?
  verdict "$([[ $code == 130 && -z $(pgrep -s "$leader") ]]; echo $?)" "Ctrl-C to the $target: exit code 130, and no process of the session is left"
done

finish
