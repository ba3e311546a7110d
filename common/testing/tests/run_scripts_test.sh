#!/usr/bin/env bash
# The labs' run.sh differ in the lab's name alone; --write makes them all from A4's.
set -uo pipefail
cd -- "$(dirname -- "$0")/../../.." || exit 2
num_failed=0
for rubric in */rubric.toml; do
  script=${rubric%/*}/run.sh made=$(sed "s/a4_data_tensor/${rubric%/*}/g" a4_data_tensor/run.sh)
  if [[ ${1:-} == --write ]]; then
    printf '%s\n' "$made" >"$script" && chmod +x "$script"
  elif ! diff <(echo "$made") "$script"; then
    echo "FAILED  $script differs from a4_data_tensor/run.sh; to regenerate it: common/testing/tests/run_scripts_test.sh --write"
    num_failed=1
  fi
done
[[ $num_failed == 0 ]]
