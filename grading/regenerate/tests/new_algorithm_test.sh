#!/usr/bin/env bash
# One more bonus algorithm touches at most 8 files: after `lab regenerate`, in a copy of the tree, its task is right, and the
# quick tests of its lab, of rubrics, contracts and the starter pass. Takes many minutes: everything is compiled.
here=$(dirname -- "$(readlink -f -- "$0")")
source "$here/../../../common/testing/program_checks.sh"
copy=$scratch/suite
mkdir "$copy"
for entry in "${LAB_SOURCE_DIR:?where the sources are}"/{.[!.]*,*}; do
  case ${entry##*/} in .git | build | out) ;; *) cp -r "$entry" "$copy/" ;; esac
done
patch --silent -p1 -d "$copy" <"$here/new_algorithm.patch"
verdict $? "the change applies"
verdict "$([[ $(grep -c '^+++ ' "$here/new_algorithm.patch") -le 8 ]]; echo $?)" "... and touches at most 8 files"

# lab COMMAND...: runs ./lab in the copy; it must end well.
lab() {
  code=0
  "$copy/lab" --no-install "$@" >"$scratch/out" 2>&1 </dev/null || code=$?
  verdict "$code" "lab $*"
  [[ $code == 0 ]] || tail -n 30 "$scratch/out"
}
lab regenerate
lab check reduce_scatter_direct
cmake -S "$copy" -B "$copy/build/release" -DBUILD_TESTING=ON >"$scratch/out" &&
  cmake --build "$copy/build/release" --parallel 2 --target programs tests >"$scratch/out" 2>&1
verdict $? "the tests build"
run_seconds=3600
run ctest --test-dir "$copy/build/release" --output-on-failure -L quick \
  -R '^(a9_|grading_(starter|marks|regenerate|similarity|generated|unsolved)_|lab_course_tests|layers$)'
verdict "$code" "quick tests pass"
[[ $code == 0 ]] || grep -A 30 -E '^ *[0-9]+/.*\*\*\*' "$scratch/out"
finish
