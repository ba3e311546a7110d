#!/usr/bin/env bash
# Runs the lab on 4 ranks of this machine. Writes optC_model_parallel.log and optC_model_parallel.err to $OUT, or next to this script,
# where `lab submit` looks for them; pictures and tables go to out/, or to --out.
# Arguments are passed to the lab: optC_model_parallel/run.sh --seed 7
set -euo pipefail
root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
bin=$root/build/release/bin
out=${OUT:-$root/optC_model_parallel}
if [[ ! -x $bin/labrun || ! -x $bin/optC_model_parallel ]]; then
  echo "run.sh: the programs are not built yet: $root/lab build" >&2
  exit 2
fi
mkdir -p -- "$out"
exec "$bin/labrun" --standalone --nproc-per-node 4 "$bin/optC_model_parallel" "$@" \
  >"$out/optC_model_parallel.log" 2>"$out/optC_model_parallel.err"
