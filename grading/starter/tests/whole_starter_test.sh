#!/usr/bin/env bash
# A whole starter, built as a student builds it: its two commands before anything is solved, then with one lab solved and
# one half done. What they print is compared with whole_starter/*.txt, without figures that differ from machine to machine;
# --write writes these files. With --bare-root in a bare Debian 12, where everything is installed first. Takes minutes:
# everything is compiled.
here=$(dirname -- "$(readlink -f -- "$0")")
source "$here/../../../common/testing/program_checks.sh"
source "$here/../../../common/testing/bare_root.sh"
source_tree=${LAB_SOURCE_DIR:?where the sources are}
starter=$scratch/starter
prebuilt=--prebuilt
[[ ${1:-} != --bare-root ]] || prebuilt=
run "$bin/labstarter" "$starter" --labs a4,a5 --source "$source_tree" $prebuilt
verdict "$code" "a starter of two labs"
if [[ ${1:-} == --bare-root ]]; then
  make_bare_root || exit 77
  mv "$starter" "$bare_root/root/starter"
  starter=$bare_root/root/starter
fi

# lab COMMAND: leaves $scratch/out, $scratch/err and $code.
lab() {
  if [[ ! ${bare_root:-} ]]; then
    code=0
    "$starter/lab" --no-install "$1" >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
  else
    in_bare_root "/root/starter/lab $1 2>/root/err"
    cp "$bare_root/root/err" "$scratch/err"
  fi
}
# without_figures: what is the same on every machine; which rank comes first is not, nor which of two TODOs.
without_figures() {
  sed -E "s|$starter\b|STARTER|g; s|/root/starter\b|STARTER|g"'
    s/[0-9]+\.[0-9]+/#/g; s/waiting [0-9]+ %/waiting # %/; s/\b[0-9]+ (s\b|job)/# \1/g; s/Rank [0-9] initialized on .*/Rank # initialized/
    s/task a4\.[a-z_]* is not/task a4.# is not/; s/\.(md|cpp):[0-9]+/.\1:#/g
    /^lab: (installing|packages installed|configuring|building:)|^(lab: )?  (sudo )?apt-get |^ *[0-9]+ +#  .*#$/d'
}
# prints NAME CODE COMMAND WHAT: lab COMMAND ends with CODE, and prints whole_starter/NAME.txt.
prints() {
  lab "$3"
  without_figures <"$scratch/out" >"$scratch/text"
  [[ $option != --write ]] || cp "$scratch/text" "$here/whole_starter/$1.txt"
  diff "$here/whole_starter/$1.txt" "$scratch/text" || code="$code, but another text"
  verdict "$([[ $code == "$2" ]]; echo $?)" "lab $3 $4: exit code $code"
  ! grep 'warning:' "$scratch/out" "$scratch/err" || verdict 1 "... without a warning"
}
# solve FILE...: as the reference does.
solve() {
  local file
  for file; do grep -vE '^ *// (BEGIN|END) SOLUTION|^ *// STUB' "$source_tree/$file" >"$starter/$file"; done
}

option=${1:-}
prints demo_fresh 0 demo "of a fresh starter"
prints test_fresh 3 test "of a fresh starter"
(cd "$source_tree" && printf '%s\n' a4_data_tensor/student/*.cpp) >"$scratch/files"
mapfile -t files <"$scratch/files"
solve "${files[@]}" a5_pipeline/student/{check_arguments,baseline,distribute_layers,requires_dataloader}.cpp
prints test_begun 3 test "with one lab solved, one half done"
prints demo_begun 0 demo "with one lab solved, one half done"
if command -v gnuplot >/dev/null && command -v rsvg-convert >/dev/null; then
  verdict "$(ls "$starter"/out/{learning_curve,step_1f1b,step_one_by_one}.png >/dev/null; echo $?)" "pictures are drawn"
fi
if [[ $prebuilt ]]; then
  mapfile -t compiled < <(awk -F '\t' '$4 ~ /[.](o|pch)$/ {print $4}' "$starter/build/release/.ninja_log" |
    grep -vE '_student[.]dir|lab_pch_student|student_frame')
  verdict "${#compiled[@]}" "a prebuilt starter compiles student files only, not ${compiled[*]:-}"
  echo >>"$starter/common/api/shapes.h"
  run "$starter/lab" --no-install compile help
  verdict "$(grep -q 'lab: prebuilt/ is of no use here, everything is compiled: provided code: expected' "$scratch/out"; echo $?)" \
    "a changed header is not compiled against prebuilt objects"
fi
finish
