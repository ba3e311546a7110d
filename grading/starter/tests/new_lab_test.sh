#!/usr/bin/env bash
# A lab is its folder: in a copy of the tree that has one lab only, the tiny one of new_lab.patch, everything that knows labs
# works without an edit outside that folder, except for its row in the README. Takes minutes: everything is compiled.
source "$(dirname -- "$(readlink -f -- "$0")")/../../../common/testing/program_checks.sh"
source_tree=${LAB_SOURCE_DIR:?where the sources are}
copy=$scratch/suite

mkdir "$copy"
for entry in "$source_tree"/{.clang-format,.clangd,.editorconfig,.gitignore,CMakeLists.txt,CMakePresets.json,LICENSE,README.md,common,grading,lab}; do
  [[ ! -e $entry ]] || cp -r "$entry" "$copy/"
done
patch --silent -p1 -d "$copy" <"$source_tree/grading/starter/tests/new_lab.patch"
verdict $? "the lab is added"
row='| [b1_total](b1_total/README.md) | `b1` | a total over ranks | 1 | 1 | |'
sed -i "0,/^| \[a4_data_tensor\]/s#^| \[a4_data_tensor\]#$row\n&#" "$copy/README.md"
sed -i '0,/^| `a4`/s#^| `a4`#| `b1` | | | | | | |\n&#' "$copy/grading/SYLLABUS.md"

# lab COMMAND...: runs ./lab in the copy; leaves $scratch/out and $code.
lab() {
  code=0
  (cd "$scratch" && "${tree:-$copy}/lab" --no-install "$@") >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
}
says() { verdict "$([[ $code == "$1" ]] && grep -qE -- "$2" "$scratch/out"; echo $?)" "$3: exit code $1, $2"; }

lab run b1 --nproc 3
says 0 '^\[Total\]\[Rank 2\] Tensors match: True' "lab run"
cp "$scratch/out" "$scratch/log"
lab check-log b1 "$scratch/log" --nproc 3
says 0 '' "lab check-log of that log"
sed -i 's/match: True/match: False/' "$scratch/log"
lab check-log b1 "$scratch/log" --nproc 3
says 1 '' "... and of another"
mv "$copy/b1_total/expected_log.txt" "$scratch/expected_log.txt"
lab regenerate
says 0 '^written: b1_total/expected_log\.txt: ' "lab regenerate"
verdict "$(cmp -s "$scratch/expected_log.txt" "$copy/b1_total/expected_log.txt"; echo $?)" "... writes it for a lab that has none yet"
lab check b1
says 0 'b1\.total' "lab check"

lab starter "$scratch/course"
says 0 '' "lab starter"
verdict "$(grep -q 'TODO(b1.total)' "$scratch/course/b1_total/student/total.cpp" &&
  ! grep -q 'sum.add_' "$scratch/course/b1_total/student/total.cpp"; echo $?)" "... leaves the TODO and no solution"

mkdir -p "$scratch/"{right,wrong,unsolved}/b1_total
cp -r "$copy/b1_total/student" "$scratch/right/b1_total/"
cp -r "$copy/b1_total/student" "$scratch/wrong/b1_total/"
sed -i 's/sum\.add_(other);/sum.sub_(other);/' "$scratch/wrong/b1_total/student/total.cpp"
cp -r "$scratch/course/b1_total/student" "$scratch/unsolved/b1_total/"
grades() { # grades FOLDER MARKS
  local score
  lab grade "$scratch/$1" --out "$scratch/graded/$1"
  score=$(sed -nE 's/^ *"score": ([0-9.]+),?$/\1/p' "$scratch/graded/$1/b1_total/results.json" | head -n 1)
  verdict "$([[ $code == 0 && ${score%.0} == "$2" ]]; echo $?)" "lab grade, $1: $2 of 10 marks (exit code $code, '$score')"
}
grades right 10
grades wrong 0
grades unsolved 0
finish
