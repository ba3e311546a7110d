#!/usr/bin/env bash
# A file must fail to compile on exactly the lines marked `// expect-error`; with -DRIGHT, its right twin, it must
# compile. An error inside a header counts for the line that includes it.
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
found=$(awk -v file="$file" '
  index($0, "In file included from ") == 1 || /^ +from / {
    at = index($0, " " file ":")
    includes = at ? substr($0, at + length(file) + 2) + 0 : 0
  }
  /^[^ ]+:[0-9]+:[0-9]+: error/ {
    if (index($0, file ":") == 1) print substr($0, length(file) + 2) + 0
    else if (includes) print includes
  }
  /^[^ ]+:[0-9]+:[0-9]+: (note|warning)/ { includes = 0 }' "$output" | sort -un)
if [[ $expected != "$found" ]]; then
  echo "expected errors on lines $(echo $expected), got them on lines $(echo $found)"
  cat "$output"
  exit 1
fi
echo "$file: refused on lines $(echo $expected), as marked"
