#!/usr/bin/env bash
# Runs the lab on 4 ranks of this machine. Writes a9_collectives.log and a9_collectives.err to $OUT, or next to this script,
# where `lab submit` looks for them; pictures and tables go to out/, or to --out.
# Arguments are passed to the lab: a9_collectives/run.sh --seed 7
set -euo pipefail
root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
bin=$root/build/release/bin
out=${OUT:-$root/a9_collectives}
if [[ ! -x $bin/labrun || ! -x $bin/a9_collectives ]]; then
  echo "run.sh: the programs are not built yet: $root/lab build" >&2
  exit 2
fi
mkdir -p -- "$out"
exec "$bin/labrun" --standalone --nproc-per-node 4 "$bin/a9_collectives" "$@" \
  >"$out/a9_collectives.log" 2>"$out/a9_collectives.err"
