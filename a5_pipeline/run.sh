#!/usr/bin/env bash
# Runs the lab on 4 ranks of this machine. Writes a5_pipeline.log and a5_pipeline.err to $OUT, or next to this script,
# where `lab submit` looks for them; pictures and tables go to out/, or to --out.
# Arguments are passed to the lab: a5_pipeline/run.sh --seed 7
set -euo pipefail
root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
bin=$root/build/release/bin
out=${OUT:-$root/a5_pipeline}
if [[ ! -x $bin/labrun || ! -x $bin/a5_pipeline ]]; then
  echo "run.sh: the programs are not built yet: $root/lab build" >&2
  exit 2
fi
mkdir -p -- "$out"
exec "$bin/labrun" --standalone --nproc-per-node 4 "$bin/a5_pipeline" "$@" \
  >"$out/a5_pipeline.log" 2>"$out/a5_pipeline.err"
