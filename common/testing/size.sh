#!/usr/bin/env bash
# size.sh [FOLDER]: how large the tree is, of the files in git (below FOLDER): for C++ (*.cpp, *.h) and bash (*.sh, *.sh.in,
# `lab`), in production and in tests, the files, their lines, and their lines without blank ones and comments. Tests are
# what stands in a folder tests/ or testing/; findings/ is neither.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
git ls-files -- "${1:-.}" ':!findings' | awk '
  /\.(cpp|h)$/ { language = "C++"; comment = "^[ \t]*(//|$)" }
  /\.sh(\.in)?$/ || $0 == "lab" { language = "bash"; comment = "^[ \t]*(#|$)" }
  { all++ }
  language {
    kind = language (/(^|\/)(tests|testing)\// ? " in tests" : " in production")
    files[kind]++
    while ((getline line <$0) > 0) { lines[kind]++; code[kind] += line !~ comment }
    close($0)
    language = ""
  }
  END {
    printf "%-20s %6s %7s %7s\n", "", "files", "lines", "code"
    for (kind in files) printf "%-20s %6d %7d %7d\n", kind, files[kind], lines[kind], code[kind] | "sort"
    close("sort")
    printf "%-20s %6d\n", "all files in git", all
  }'
