#!/usr/bin/env bash
# Every lab under MPICH's mpirun; failures, but no stopped rank: mpirun waits until it goes on.
source "$(dirname -- "$(readlink -f -- "$0")")/launchers.sh"
mpirun=(mpiexec.hydra)
launcher mpirun || { skip "mpiexec.hydra is not installed or does not start programs here"; exit 77; }
told_by=PMI rank_variable=PMI_RANK names_killed='EXIT CODE: 9'

launch() { run "${mpirun[@]}" -n 4 "$bin/$1" "${@:2}"; }

every_lab_is_right
a_failed_rank_ends_the_run
run "${mpirun[@]}" -prepend-rank -n 4 "$bin/${labs[0]}"
accepts "labels" "${labs[0]}" 4
finish
