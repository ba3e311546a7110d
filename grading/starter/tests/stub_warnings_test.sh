#!/usr/bin/env bash
# A starter's student files compile without a warning, by this build's compiler and by g++: else the first that a student
# sees of a compiler is a message about somebody else's line.
source "$(dirname -- "$(readlink -f -- "$0")")/../../../common/testing/program_checks.sh"
run "$bin/labstarter" "$scratch/starter" --source "$LAB_SOURCE_DIR"
verdict "$code" "a starter of all labs"
cd "$scratch/starter" || exit 2
mapfile -t files < <(find ./*/student -name '*.cpp')
command=$(grep -m 1 '"command".*_student.dir/student/' "$bin/../compile_commands.json")
read -r -a options < <(grep -oE -- '-(isystem [^ ]+|std=[^ ]+|O1|DNDEBUG|W[a-z0-9+-]+)' <<<"$command" | grep -vx -- '-Wno-error' | paste -sd ' ')
for compiler in "$1" g++; do
  folder=$scratch/$(basename -- "$compiler")
  mkdir -p "$folder" && cp common/pch/student.h "$folder"
  compile=("$compiler" "${options[@]}" -I. -fPIC -pthread)
  run "${compile[@]}" -x c++-header "$folder/student.h" -o "$folder/student.h.$([[ $compiler == *clang* ]] && echo pch || echo gch)"
  code=0
  xargs -0 -n 8 -P 2 -a <(printf '%s\0' "${files[@]}") "${compile[@]}" -include "$folder/student.h" -fsyntax-only -Werror \
    >"$scratch/out" 2>"$scratch/err" || code=$?
  verdict "$code" "$(basename -- "$compiler"): ${#files[@]} student files without a warning"
done
finish
