#!/usr/bin/env bash
# check_layers.sh accepts the tree, and refuses includes in the wrong direction.
set -uo pipefail
here=$(cd -- "$(dirname -- "$0")" && pwd)
root=$(cd -- "$here/../../.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
num_failed=0
verdict() { # verdict WHAT CODE
  if [[ $2 == 0 ]]; then echo "ok      $1"; else
    echo "FAILED  $1"
    num_failed=$((num_failed + 1))
  fi
}
(cd "$root" && find common grading ./*_*/ \( -name '*.cpp' -o -name '*.h' -o -name rubric.toml -o -name CMakeLists.txt \) -print0 |
  tar --null --files-from=- --create) | tar --extract --directory "$copy"

verdict "the tree itself" "$("$here/../check_layers.sh" "$copy" >"$copy/out"; echo $?)"
# One run finds them all.
headers=()
refuses() { # refuses FILE HEADER
  echo "#include \"$2\"" >>"$copy/$1"
  headers+=("$1 $2")
}
refuses common/comm/group.h common/course/rubric/rubric.h
refuses common/comm/group.h common/testing/case_runs.h
refuses common/base/files.h common/bench/machine_load.h
refuses common/base/tests/files_test.cpp common/checks/case.h
refuses a4_data_tensor/single_step.h common/comm/gloo/lifeline.h
refuses a4_data_tensor/step.h common/tensor/seeded.h
refuses a9_collectives/student/broadcast/flat.cpp common/tensor/seeded.h
refuses common/api/partition.h common/base/text.h
refuses common/log/printer.h common/api/shapes.h
refuses common/launch/supervise/supervisor.h common/comm/gloo/frame.h
refuses common/api/compare.h torch/csrc/distributed/c10d/TCPStore.hpp
refuses common/log/match_line.h ATen/ATen.h
refuses common/pipeline/schedule.h common/checks/case.h
refuses a5_pipeline/main.cpp a4_data_tensor/single_step.h
refuses vae_sequence_parallel/layers.h grading/marks/marks.h
refuses a9_collectives/chunks.h common/testing/test.h
refuses grading/marks/marks.h doctest/doctest.h
refuses grading/judge/judge_lab.h grading/batch/roster.h
refuses grading/batch/roster.h grading/commands/commands.h
echo 'int f() { return ::system("true"); }' >>"$copy/common/plot/plot.cpp"
echo 'const char* f() { return "gnuplot"; }' >>"$copy/common/base/files.cpp"
echo 'void f() { at::set_num_threads(1); }' >>"$copy/common/launch/run_ranks.cpp"
echo 'lab_library(x SOURCES ../judge/claims.cpp)' >>"$copy/grading/marks/CMakeLists.txt"
mkdir -p "$copy/common/new" && touch "$copy/common/new/header.h"
verdict "exit code 1" "$("$here/../check_layers.sh" "$copy" >"$copy/out"; [[ $? == 1 ]]; echo $?)"
for one in "${headers[@]}"; do
  read -r file header <<<"$one"
  verdict "$file must not include $header" "$(grep -qE "$file:[0-9]+:#include \"$header\"" "$copy/out"; echo $?)"
done
verdict "another folder's file" "$(grep -q "own files only: grading/marks/CMakeLists.txt" "$copy/out"; echo $?)"
verdict "a process of its own" "$(grep -q "processes are created.*plot/plot.cpp" "$copy/out"; echo $?)"
verdict "gnuplot started elsewhere" "$(grep -q "gnuplot and rsvg-convert are started.*base/files.cpp" "$copy/out"; echo $?)"
verdict "LibTorch's threads alone" "$(grep -q "number of threads.*run_ranks" "$copy/out"; echo $?)"
verdict "a new folder must say what it may include" "$(grep -q "may include: common/new" "$copy/out"; echo $?)"
[[ $num_failed == 0 ]]
