#!/usr/bin/env bash
# The program as a user meets it: every number of ranks and way to launch, its commands, bad input, a killed rank.
source "$(dirname -- "$(readlink -f -- "$0")")/../../common/testing/program_checks.sh"
lab=a9_collectives
program=$bin/$lab
has() { grep -qE -- "$1" "$scratch/out"; echo $?; }

explains_itself "$program"
for num_ranks in 1 2 3 4 5 8; do
  right "$num_ranks ranks" "$num_ranks" --nproc "$num_ranks"
done
right "8 ranks that are threads" 8 --world threads --nproc 8

# One task, one case.
run "$program" run reduce_scatter --nproc 3
verdict "$([[ $code == 0 && $(grep -c 'Tensors match: True' "$scratch/out") == 27 ]]; echo $?)" "run TASK runs its nine cases on each rank"
run "$program" run AllGatherBruck --nproc 2
verdict "$([[ $code == 0 && $(grep -c 'Tensors match: True' "$scratch/out") == 2 ]]; echo $?)" "run CASE runs that one"

# The student's checks.
tasks=$(grep -c '^\[\[task\]\]' "${LAB_SOURCE_DIR:?}/$lab/rubric.toml")
run "$program" check --nproc 3 --json "$scratch/check.json"
verdict "$([[ $code == 0 && $(grep -cxE 'a9\.allreduce: 12 of 12 checks right on 3 ranks|a9\.ulysses: 1 of 1 checks right on 3 ranks|'"$tasks of $tasks tasks right" "$scratch/out") == 3 ]]; echo $?)" "check runs every task, and leaves out the checks that are skipped"
verdict "$([[ $(grep -c '"task": "a9\.' "$scratch/check.json") == "$tasks" && $(grep -c '"passed": false' "$scratch/check.json") -gt 0 ]]; echo $?)" "check --json"
run "$program" check Ulysses --nproc 3 --junit "$scratch/check.xml"
verdict "$([[ $code == 0 && $(tr -d '\n' <"$scratch/check.xml") == *'<testsuite name="a9_collectives" tests="1" failures="0" errors="0" skipped="1">'*'<testcase classname="a9_collectives" name="a9.ulysses: Ulysses">'*'<skipped message="4 heads do not divide by 3 ranks" />'* ]]; echo $?)" "check --junit"
run "$program" check Ulysses --junit "$scratch/none/check.xml"; refuses "a JUnit file that cannot be written" 2 "none/check.xml"
run "$program" check --json "$scratch/none/x.json"; refuses "results that cannot be written" 2 "there is no folder"
run "$program" check BroadcastLarge --nproc 2
verdict "$([[ $code == 0 && $(cat "$scratch/out") == 'a9.broadcast: 1 of 1 checks right on 2 ranks' ]]; echo $?)" "check CASE runs that one"
run "$program" check Ulysses --nproc 3
verdict "$([[ $code == 0 && $(cat "$scratch/out") == 'a9.ulysses: skipped on 3 ranks: 4 heads do not divide by 3 ranks' ]]; echo $?)" "check says why a case is skipped"
run "$program" check allreduce --nproc 3 --shake 2
verdict "$([[ $code == 0 && $(cat "$scratch/out") == $'a9.allreduce: 12 of 12 checks right on 3 ranks\nthe same in 2 shaken runs' ]]; echo $?)" "check --shake runs it in other orders, too"

# Pictures and lines from a trace.
run "$program" explain all_to_all --text
verdict "$([[ $code == 0 ]] && has '^step 3: 0->3 a3, 1->0 b0, 2->1 c1, 3->2 d2$')" "explain --text names each message's chunk"
if command -v rsvg-convert >/dev/null; then
  run "$program" explain all_to_all --out "$scratch/pictures"
  verdict "$([[ $code == 0 && $(ls "$scratch/pictures" | tr '\n' ' ') == 'all_to_all_schematic.pdf all_to_all_schematic.png ' ]]; echo $?)" "explain leaves the schematic as PNG and PDF"
  verdict "$([[ $(head -c 4 "$scratch/pictures/all_to_all_schematic.png" | tail -c 3) == PNG && $(head -c 4 "$scratch/pictures/all_to_all_schematic.pdf") == %PDF ]]; echo $?)" "... and they are that"
else skip "rsvg-convert is not installed"; fi

# The simulated network.
run "$program" sim --ranks 16 --bytes 1MiB --json "$scratch/sim.json"
if grep -q 'no SimGrid' "$scratch/err"; then skip "this build has no simulated network"; else
  verdict "$([[ $code == 0 ]] && has 'allreduce +\* rabenseifner +1048576 +16 +1652.864 +1652.864 +128 +1966080 +8')" "sim prints the formula's time to the digit"
  verdict "$([[ $(grep -c '"simulated_seconds"' "$scratch/sim.json") == 6 ]]; echo $?)" "... and a row of JSON for each algorithm"
  run "$program" --world sim --nproc 3
  accepts "the lab itself runs in the simulated world" $lab 3
fi

# Ranks that share memory.
for transport in shm auto; do
  right "5 ranks with --transport $transport" 5 --transport $transport --nproc 5
done

# The benchmark, small.
run "$program" bench --transport shm --nproc 2 --collective allreduce --max-bytes 4KiB --turns 3 --json "$scratch/bench.json"
verdict "$([[ $code == 0 && $(grep -c '"selected": true' "$scratch/bench.json") == 2 && $(grep -c '"wrong": 0' "$scratch/bench.json") == 12 ]]; echo $?)" "bench measures each algorithm at each size, and finds nothing wrong"
run "$program" bench --nproc 3 --collective all_to_all --max-bytes 4KiB --turns 1 --fit "$scratch/tables"
verdict "$([[ $code == 0 && $(grep -cE '^ +\{[23], kAnySize, "(direct|pairwise|bruck)"\},$' "$scratch/tables") == 2 ]]; echo $?)" "bench --fit writes a table, for each number of ranks"
run "$program" bench --nproc 2 --collective broadcast --max-bytes 1KiB --turns 1 --fit "$scratch/tables"
verdict "$([[ $code == 0 && $(grep -cE '^ +1024 broadcast' "$scratch/out") == 4 && $(grep -c flat "$scratch/out") == 0 ]]; echo $?)" "... over two transports, without what passes everything through one rank"
run "$program" bench --fit "$scratch/tables" --transport shm; refuses "a fit to one transport" 2 "--fit measures over Gloo and shared memory"
run "$program" bench --min-bytes 0; refuses "a benchmark of nothing" 2 "--min-bytes: expected a size from 4B"
run "$program" bench --collective alltoall; refuses "a benchmark of a collective that is not there" 2 "unknown collective 'alltoall'"

survives_killed 1 "$program"

finish
