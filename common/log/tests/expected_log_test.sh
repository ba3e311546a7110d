#!/usr/bin/env bash
# Each lab's expected_log.txt is, to the byte, what the lab says of itself today.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
source "${LAB_SOURCE_DIR:?}/common/log/expected_log.sh"
failed=0 labs=0
for rubric in "$LAB_SOURCE_DIR"/*/rubric.toml; do
  folder=$(dirname -- "$rubric")
  lab=$(basename -- "$folder")
  labs=$((labs + 1))
  (cd -- "$scratch" && expected_log "${LAB_BIN_DIR:?}/$lab" "$folder/expected_log.txt") >"$scratch/$lab.txt" || failed=1
  diff -u "$folder/expected_log.txt" "$scratch/$lab.txt" | head -n 40
  cmp -s "$folder/expected_log.txt" "$scratch/$lab.txt" || { echo "FAILED $lab: hint: ./lab expected-logs"; failed=1; }
done
[[ $labs -gt 0 ]] || { echo "FAILED: there are no labs"; failed=1; }
exit "$failed"
