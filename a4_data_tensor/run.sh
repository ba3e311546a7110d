#!/usr/bin/env bash
# Runs the lab on 4 ranks of this machine. Writes a4_data_tensor.log and a4_data_tensor.err to $OUT, or next to this script,
# where `lab submit` looks for them; pictures and tables go to out/, or to --out.
# Arguments are passed to the lab: a4_data_tensor/run.sh --seed 7
set -euo pipefail
root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
bin=$root/build/release/bin
out=${OUT:-$root/a4_data_tensor}
if [[ ! -x $bin/labrun || ! -x $bin/a4_data_tensor ]]; then
  echo "run.sh: the programs are not built yet: $root/lab build" >&2
  exit 2
fi
mkdir -p -- "$out"
exec "$bin/labrun" --standalone --nproc-per-node 4 "$bin/a4_data_tensor" "$@" \
  >"$out/a4_data_tensor.log" 2>"$out/a4_data_tensor.err"
