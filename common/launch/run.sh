#!/usr/bin/env bash
# What each lab's run.sh does, by run.sh SCRIPT LAB [arguments]: runs the lab on 4 ranks of this machine or, if the script
# is Slurm's copy, on the nodes of its job. Writes LAB.log and LAB.err to $OUT, or to the lab's folder, where `lab submit`
# looks for them; pictures and tables go to out/, or to --out. Arguments are passed to the lab: LAB/run.sh --seed 7
set -euo pipefail
script=$1 lab=$2
shift 2
root=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.." && pwd)
bin=$root/build/release/bin out=${OUT:-$root/$lab}
if [[ ! -x $bin/labrun || ! -x $bin/$lab ]]; then
  echo "run.sh: the programs are not built yet: $root/lab build" >&2
  exit 2
fi
mkdir -p -- "$out"
# The ranks of srun find each other through Slurm's variables; MASTER_ADDR and MASTER_PORT, if set, take precedence.
start=(srun --kill-on-bad-exit=1)
[[ ! $script -ef $root/$lab/run.sh ]] || start=("$bin/labrun" --standalone --nproc-per-node 4)
exec "${start[@]}" "$bin/$lab" "$@" >"$out/$lab.log" 2>"$out/$lab.err"
