#!/usr/bin/env bash
# Each lab's reference_figures.json, with which `lab check --score` compares, holds what the reference costs: the same
# cases; the same bytes; model time and operations within 1 % (LibTorch versions do some operators in another way); peak
# memory at most a quarter more, and at least a quarter of it: workspaces of convolutions depend on the processor, and
# one without AVX-512 has none, so that a small case's peak is a third of what another records. With another LibTorch than
# 1.13, with which they were recorded, 16 operations and a workspace of 64 KiB more.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
failed=0 labs=0 operations=16 workspace=65536
if grep -qE "^ok	torch	1[.]13[.]" "${LAB_BIN_DIR:?}/../parts.txt"; then operations=0 workspace=0; fi
for recorded in "${LAB_SOURCE_DIR:?}"/*/reference_figures.json; do
  lab=$(basename -- "$(dirname -- "$recorded")")
  labs=$((labs + 1))
  "${LAB_BIN_DIR:?}/$lab" check --nproc 4 --figures "$scratch/$lab" >"$scratch/out" 2>&1 || {
    cat -- "$scratch/out"; echo "FAILED $lab: the reference is not right"; failed=1; continue; }
  awk -F '[][": ,{}]+' -v lab="$lab" -v operations=$operations -v workspace=$workspace '
    function near(a, b, share, more) { return a <= b * (1 + share) + more && b <= a * (1 + share) + more }
    NF < 5 { next }
    FNR == NR { time[$2] = $3; bytes[$2] = $4; peak[$2] = $5; flops[$2] = $6; next }
    !($2 in time) { print lab ": " $2 " is not recorded"; wrong = 1; next }
    !near(time[$2], $3, 0.01, 0) || bytes[$2] != $4 || $5 > 1.25 * peak[$2] + workspace || $5 < 0.25 * peak[$2] || !near(flops[$2], $6, 0.01, operations) {
      print lab ": " $2 ": recorded " time[$2], bytes[$2], peak[$2], flops[$2] ", now " $3, $4, $5, $6; wrong = 1 }
    { delete time[$2] }
    END { for (name in time) { print lab ": " name " is recorded, but there is no such figure"; wrong = 1 }; exit wrong }
  ' "$recorded" "$scratch/$lab" || { echo "FAILED $lab: hint: ./lab figures"; failed=1; }
done
[[ $labs == 5 ]] || { echo "FAILED: expected the figures of 5 labs, found $labs"; failed=1; }
exit "$failed"
