#!/usr/bin/env bash
# A file must not compile, on exactly the lines marked `// expect-error`; with -DRIGHT, its right twin, it must.
# usage: compile_fail.sh COMPILER FILE FLAGS...
set -uo pipefail
compiler=$1 file=$2
shift 2
output=$(mktemp)
trap 'rm -f "$output"' EXIT

if ! "$compiler" "$@" -fsyntax-only -DRIGHT "$file" >"$output" 2>&1; then
  echo "the right twin of $file does not compile:"
  cat "$output"
  exit 1
fi
if "$compiler" "$@" -fsyntax-only "$file" >"$output" 2>&1; then
  echo "$file compiles, but must not"
  exit 1
fi
expected=$(grep -n '// expect-error' "$file" | cut -d: -f1 | sort -un)
found=$(grep -E "^$file:[0-9]+:[0-9]+: error" "$output" | cut -d: -f2 | sort -un)
if [[ $expected != "$found" ]]; then
  echo "expected errors on lines $(echo $expected), got them on lines $(echo $found)"
  cat "$output"
  exit 1
fi
echo "$file: refused on lines $(echo $expected), as marked"
