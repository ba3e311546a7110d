#!/usr/bin/env bash
# The benchmark of collectives as a user meets it, small; its figures are not tested.
source "$(dirname -- "$(readlink -f -- "$0")")/../../testing/program_checks.sh"
program=$bin/bench_collectives

run "$program" --transport shm --nproc 2 --max-bytes 4KiB --turns 1 --no-mpi --no-python --json "$scratch/bench.json"
verdict "$([[ $code == 0 && $(grep -c '"contender": "collectives"' "$scratch/bench.json") == 10 && $(grep -c '"wrong": 0' "$scratch/bench.json") == 36 ]]; echo $?)" "each collective at each size, with Gloo's four and the copies, and nothing is wrong"
verdict "$(grep -q '^ours / gloo  *geometric mean .* of 8 cells' "$scratch/out"; echo $?)" "... and a summary"
run "$program" --nproc 3 --collective all_to_all --max-bytes 1KiB --turns 1 --no-mpi --no-python
verdict "$([[ $code == 0 && $(grep -cE '^ +1020 all_to_all +(collectives|gloo|gloo batch|copies alone) ' "$scratch/out") == 4 ]]; echo $?)" "one collective, of ranks by which the size does not divide"
run "$program" --min-bytes 0; refuses "a benchmark of nothing" 2 "--min-bytes: expected a size from 4B"
run "$program" --min-bytes 2KiB --max-bytes 1KiB; refuses "sizes in the wrong order" 2 "--min-bytes 2 KiB: expected at most --max-bytes, 1 KiB"
run "$program" --collective alltoall; refuses "a collective that is not there" 2 "--collective: expected broadcast, allreduce, .*, got 'alltoall'"
run "$program" --json "$scratch/none/x.json"; refuses "a table that cannot be written" 2 "there is no folder"
finish
