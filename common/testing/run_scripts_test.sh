#!/usr/bin/env bash
# Each lab's run.sh and run.sbatch are common/launch/run.*.in with the lab's name; --write generates them.
set -uo pipefail
cd -- "$(dirname -- "$0")/../.." || exit 2
num_failed=0
for rubric in */rubric.toml; do
  lab=${rubric%/*}
  for script in run.sh run.sbatch; do
    made=$(sed "s/@LAB@/$lab/g" "common/launch/$script.in"; echo end)
    if [[ ${1:-} == --write ]]; then
      printf '%s' "${made%end}" >"$lab/$script"
      chmod +x "$lab/$script"
    elif [[ $(cat "$lab/$script"; echo end) == "$made" ]]; then
      echo "ok      $lab/$script"
    else
      echo "FAILED  $lab/$script differs from common/launch/$script.in; to regenerate it: common/testing/run_scripts_test.sh --write"
      num_failed=$((num_failed + 1))
    fi
  done
done
[[ $num_failed == 0 ]]
