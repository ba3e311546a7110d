#!/usr/bin/env bash
# Every lab under mpirun; failures.
source "$(dirname -- "$(readlink -f -- "$0")")/launchers.sh"
launcher mpirun || { skip "mpirun is not installed or does not start programs here"; exit 77; }
told_by='Open MPI' rank_variable=OMPI_COMM_WORLD_RANK names_killed='process rank 2 .* exited on signal 9'

launch() { run "${mpirun[@]}" -n 4 "$bin/$1" "${@:2}"; }

every_lab_is_right
a_failed_rank_ends_the_run
a_stopped_rank_ends_the_run
run "${mpirun[@]}" --tag-output --timestamp-output -n 4 "$bin/${labs[0]}"
accepts "labels and time stamps" "${labs[0]}" 4
finish
