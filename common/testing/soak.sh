#!/usr/bin/env bash
# Runs a doctest binary repeatedly, with its cases in another order each time.
# usage: soak.sh TIMES BINARY
set -euo pipefail
for ((turn = 1; turn <= $1; ++turn)); do
  "$2" --no-intro --minimal --order-by=rand --rand-seed="$turn" || { echo "failed in turn $turn of $1"; exit 1; }
done
