#!/usr/bin/env bash
# labchecklog alone is configured and built without looking for LibTorch: what CMake found is the compiler, threads, fmt
# and CLI11.
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd -- "${LAB_SOURCE_DIR:?}" || exit
fail() { echo "FAILED: $1"; exit 1; }
cmake --preset check-log -B "$scratch/build" -DLAB_PREFIX="${LAB_PREFIX:-}" >"$scratch/out" 2>&1 || { cat -- "$scratch/out"; fail "configure"; }
grep -iE 'torch|gloo|simgrid|json|toml|archive|stb|seccomp|sqlite' "$scratch/build/CMakeCache.txt" | grep -E '^LAB_.*:(PATH|FILEPATH)=' &&
  fail "CMake looked for the libraries above"
cmake --build "$scratch/build" --target labchecklog >"$scratch/out" 2>&1 || { cat -- "$scratch/out"; fail "build"; }
[[ $(grep -c 'Building CXX' "$scratch/out") -le 10 ]] || fail "it compiles more than ten files"
echo | "$scratch/build/bin/labchecklog" a4 - --nproc 1 >"$scratch/out"
[[ $? == 1 ]] || fail "an empty line is not A4's log"
grep -q 'rank 0: printed nothing' "$scratch/out" || fail "it says what is missing"
ldd "$scratch/build/bin/labchecklog" | grep -E 'lib(torch|c10|gloo|archive)' && fail "it is linked with the libraries above"
echo "ok"
