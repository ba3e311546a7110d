#!/bin/bash
# Applies one mutant to a tree of the reference, to look at it or to try it by hand; `apply.sh -R` undoes it.
# usage: apply.sh [-R] MUTANT DIR     such as: apply.sh a9/mean_for_sum .
set -euo pipefail
reverse=()
if [[ ${1:-} == -R ]]; then reverse=(-R); shift; fi
[[ $# == 2 ]] || { echo "usage: apply.sh [-R] MUTANT DIR" >&2; exit 2; }
patch=$(cd "$(dirname "$0")" && pwd)/${1%.patch}.patch
[[ -r $patch ]] || { echo "apply.sh: $1: no such mutant; mutants.toml lists all" >&2; exit 2; }
[[ -d $2 ]] || { echo "apply.sh: $2: no such folder" >&2; exit 2; }
exec patch -d "$2" -p1 --batch --fuzz=0 --no-backup-if-mismatch "${reverse[@]}" < "$patch"
