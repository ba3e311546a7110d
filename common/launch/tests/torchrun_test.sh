#!/usr/bin/env bash
# Every lab under torchrun, also restarted by it, with either rendezvous, or the one that it has without libuv; failures.
source "$(dirname -- "$(readlink -f -- "$0")")/launchers.sh"
launcher torchrun || { skip "torchrun is not installed or does not start programs here"; exit 77; }
told_by=torchrun rank_variable=RANK names_killed='Signal 9 \(SIGKILL\) received'
standalone=''

# Without --standalone, torchrun itself listens at the master port: some port, in case 29500 is taken.
launch() {
  local meet=("${rendezvous[@]}")
  [[ ${meet[0]} != --standalone || $standalone ]] || meet=(--master_port $((20000 + RANDOM % 10000)))
  run "${torchrun[@]}" --monitor_interval 1 "${meet[@]}" --nproc_per_node 4 "$bin/$1" "${@:2}"
}

every_lab_is_right
a_failed_rank_ends_the_run
a_stopped_rank_ends_the_run

# Restarted after a rank was killed; each attempt's lines are in files of its own.
torchrun=(torchrun --no_python --max_restarts 1 --log_dir "$scratch/logs" --redirects 0:1,1:1,2:1,3:1 --tee 9:1)
live_log() { compgen -G "$scratch/logs/*/attempt_0/1/stdout.log" || echo "$scratch/none"; }
is_right_restarted() { # is_right_restarted LAB
  local options
  rm -rf "$scratch/logs"
  mapfile -t options < <(options_of "$1")
  launch_and_signal KILL 'Distributed Init' "$1" "${options[@]}"
  cat "$scratch"/logs/*/attempt_1/*/stdout.log >"$scratch/out"
  is_right "$1, restarted${standalone:+, }$standalone" "$1"
}
for lab in "${labs[@]}"; do is_right_restarted "$lab"; done
if [[ ${rendezvous[0]} == --standalone ]]; then
  standalone=--standalone
  is_right_restarted "${labs[0]}"
fi
finish
