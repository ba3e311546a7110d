#!/usr/bin/env bash
# Tests the sweep: with programs that are always right it passes; a line that says False, a wrong exit code, and a value
# that was drawn too rarely each make it fail, and --one repeats a run.
set -uo pipefail
here=$(cd -- "$(dirname -- "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
num_failed=0

expect() { # expect WHAT CODE PATTERN: of the last sweep
  if [[ $code == "$2" ]] && grep -qE -- "$3" "$scratch/out"; then echo "ok      $1"; else
    num_failed=$((num_failed + 1))
    echo "FAILED  $1: expected exit code $2 and a line like '$3', got $code:"
    sed 's/^/          /' "$scratch/out" | tail -n 8
  fi
}
sweep() {
  code=0
  LAB_BIN_DIR=$scratch LAB_SWEEP_MIN=${least:-1} "$here/sweep.sh" "$@" >"$scratch/out" 2>&1 || code=$?
}
# programs BODY: every lab is a script; A4's says one False, as it should.
programs() {
  local lab
  for lab in a4_data_tensor a5_pipeline a9_collectives vae_sequence_parallel optC_model_parallel; do
    printf '#!/bin/bash\nlab=%s\n%s\n' "$lab" "$1" >"$scratch/$lab"
    chmod +x "$scratch/$lab"
  done
}
readonly right='echo "[Rank 0] Tensors match: True"; [[ $lab != a4* ]] || echo "[Rank 0] Tensors match: False"'

programs "$right"
sweep --runs 60 --seed 3
expect "right programs pass" 0 '^sweep: [0-9]+ runs, 0 failed'
programs "$right; [[ \$* != *'--seed 7 '* ]] || echo '[Rank 1] Tensors match: False'"
sweep --runs 60 --seed 3
expect "a False of one seed is found" 1 '^FAILED  --one [0-9]+: exit code 0, [12] lines say False'
seed=$(grep -oE -- '--one [0-9]+' "$scratch/out" | head -n 1 | cut -d' ' -f2)
sweep --one "$seed"
expect "--one runs it again" 1 'Rank 1. Tensors match: False'
programs "$right; [[ \$* != *'--nproc 5'* ]] || exit 5"
sweep --runs 60 --seed 3
expect "an exit code is found" 1 '^FAILED  .*exit code 5'
programs "$right"
least=1000000 sweep --runs 5 --seed 3
expect "a value that is drawn too seldom is told" 1 'the rarest value was drawn'
sweep --frobnicate 1
expect "an unknown option" 2 'unknown option'
[[ $num_failed == 0 ]]
