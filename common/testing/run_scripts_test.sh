#!/usr/bin/env bash
# Each lab's run.sh is common/launch/run.sh.in with the lab's name; --write generates them.
set -uo pipefail
cd -- "$(dirname -- "$0")/../.." || exit 2
num_failed=0
for rubric in */rubric.toml; do
  script=${rubric%/*}/run.sh
  if [[ ${1:-} == --write ]]; then
    sed "s/@LAB@/${rubric%/*}/g" common/launch/run.sh.in >"$script" && chmod +x "$script"
  elif ! diff <(sed "s/@LAB@/${rubric%/*}/g" common/launch/run.sh.in) "$script"; then
    echo "FAILED  $script differs from common/launch/run.sh.in; to regenerate it: common/testing/run_scripts_test.sh --write"
    num_failed=1
  fi
done
[[ $num_failed == 0 ]]
