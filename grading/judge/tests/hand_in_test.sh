#!/usr/bin/env bash
# Hand-ins as students really make them: includes by relative paths, other encodings, equal file names, broken archives,
# templates, other versions of the same. Needs LAB_SOURCE_DIR, and the labs' programs in LAB_BIN_DIR.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
root=$LAB_SOURCE_DIR build=${LAB_BIN_DIR%/bin}
mkdir "$scratch/work" && cd "$scratch/work" || exit 1

# grade SUBMISSION [arguments]: results go below out/grading in the scratch folder.
grade() { run "$bin/labgrade" grade "$@" --source "$root" --build "$build" --seed 5; }

# submit FOLDER LAB: the reference's student files, as a submission of that lab
submit() {
  rm -rf "./$1"
  mkdir -p "$1/$2"
  cp -r "$root/$2/student" "$1/$2/"
}

# scores WHAT FOLDER MARKS: the last grading ended with 0 and gave MARKS marks.
scores() {
  local score
  score=$(sed -nE 's/^ *"score": ([0-9.]+),?$/\1/p' "$2/results.json" 2>/dev/null | head -n 1)
  if [[ $code == 0 && ${score%.0} == "$3" ]]; then verdict 0 "$1: $3 marks"; else
    verdict 1 "$1: expected exit code 0 and $3 marks in $2, got $code and '$score'"
  fi
}

# reports WHAT FILE PATTERN
reports() { verdict "$(grep -qE -- "$3" "$2"; echo $?)" "$1"; }

# What compiles where students write it compiles here.
submit alice a4_data_tensor
a4=alice/a4_data_tensor/student
sed -i 's|#include "a4_data_tensor/data_parallel.h"|#include "../data_parallel.h"|' "$a4/data_parallel.cpp"
sed -i 's|#include "a4_data_tensor/accumulation.h"|#include "../../a4_data_tensor/accumulation.h"\n#include "../../common/api/errors.h"|' "$a4/accumulation.cpp"
printf '// na\xefve\n' >>"$a4/single_step.cpp"
{ printf '\xff\xfe'; iconv -f UTF-8 -t UTF-16LE "$a4/row_parallel.cpp"; } >"$scratch/utf16" && mv "$scratch/utf16" "$a4/row_parallel.cpp"
verdict "$(grep -q '"\.\./' "$a4/data_parallel.cpp" && grep -q '"\.\./' "$a4/accumulation.cpp"; echo $?)" "(the files are as meant)"
"$bin/a4_data_tensor" --nproc 4 >alice/a4_data_tensor/a4_data_tensor.log 2>/dev/null
grade alice
scores "relative includes and other encodings cost nothing" out/grading/alice/a4_data_tensor 120
report=out/grading/alice/a4_data_tensor/report.md
reports "a converted file is noted" $report 'single_step\.cpp.* is Latin-1; it was converted'
reports "... whatever its encoding was" $report 'row_parallel\.cpp.* is UTF-16; it was converted'
reports "a log is checked as check-log does" $report 'a4_data_tensor\.log is exactly the log of a right run on 4 ranks'
sed -i 's/Tensors match: True/Tensors match: False/' alice/a4_data_tensor/a4_data_tensor.log
grade alice --task a4.single_step
reports "... and what is wrong with it said" $report 'a4_data_tensor\.log is not the log of a right run on 4 ranks: line '
submit alice a9_collectives
sed -i 's|#include "a9_collectives/broadcast.h"|#include "../../broadcast.h"|' "alice/a9_collectives/student/broadcast/flat.cpp"
grade alice --task a9.broadcast
scores "also from a folder below student/" out/grading/alice/a9_collectives 5
submit mallory a4_data_tensor
printf '#include "../../a4_data_tensor/student/single_step.cpp"\n' >"mallory/a4_data_tensor/student/single_step.cpp"
grade mallory --task a4.single_step
scores "the reference is not to be found by a relative path" out/grading/mallory/a4_data_tensor 0

# Whose it is: equal names do not collide.
for student in ada bob; do
  submit "$student" a9_collectives
  printf 'name = "%s"\nid = "s-%s"\n' "$student" "$student" >"$student/identity.toml"
  sed "s/^Why:/Why: $student says so, and is right/" "$root/a9_collectives/written_answers_task1.template.md" \
    >"$student/a9_collectives/written_answers_task1.md"
  tar -C "$student" -czf a9_collectives.tar.gz .
  grade a9_collectives.tar.gz --task a9.broadcast
  scores "$student hands in a file that is called like everybody's" "out/grading/s-$student/a9_collectives" 5
  [[ $student == ada ]] || continue
  manual=out/grading/s-ada/a9_collectives/manual.toml
  sed -i '0,/id = "a9.written_q1"/! {0,/^# marks =/ s/^# marks =/marks = 4/}' "$manual"
done
reports "the report says who handed it in" out/grading/s-bob/a9_collectives/report.md 'handed in by bob \(s-bob\)'
verdict "$(! grep -qE '^marks = 4' out/grading/s-bob/a9_collectives/manual.toml && grep -qE '^marks = 4' "$manual"; echo $?)" \
  "one student's marks by hand are not another's"

# Marks by hand are for what was marked.
grade ada --task a9.broadcast
scores "a mark by hand counts when the same is graded again" out/grading/s-ada/a9_collectives 9
run "$bin/labgrade" marks out/grading/s-ada --source "$root"
scores "... or marked again without running anything" out/grading/s-ada/a9_collectives 9
cp "$manual" marked.toml
sed -i 's/is right/is wrong/' ada/a9_collectives/written_answers_task1.md
grade ada --task a9.broadcast
scores "... and not for other answers" out/grading/s-ada/a9_collectives 5
reports "... which the grader is told" "$scratch/out" 'a9.written_q1 was marked by hand for another version'
reports "... and the report says" out/grading/s-ada/a9_collectives/report.md 'earlier version.*was given 4 of'
verdict "$(cmp -s -n "$(stat -c %s marked.toml)" marked.toml "$manual"; echo $?)" "... and it stays in manual.toml"

# A template is not an answer.
cp "$root/a9_collectives/written_answers_task1.template.md" ada/a9_collectives/written_answers_task1.md
echo x >>ada/a9_collectives/written_answers_task1.md
grade ada --task a9.broadcast
reports "a template with a letter in it is not handed in" out/grading/s-ada/a9_collectives/report.md 'still the untouched template'

# What cannot be read is not judged, which is not 0 marks; the reason is in all result files.
not_graded() {
  verdict "$([[ $code == 8 ]] && grep -qE 'A4: 0 of 100.* not judged' "$scratch/out" && grep -q 'lab grade: not graded: ' "$scratch/err"; echo $?)" "$1"
}
mkdir eve && echo 'PK no archive' >eve/a4_data_tensor.zip
for lab in "" a4; do
  rm -rf out/grading/eve
  grade eve/a4_data_tensor.zip ${lab:+--lab "$lab"}
  not_graded "an archive that cannot be read is not graded"
  reports "... with the reason in results.json" out/grading/eve/a4_data_tensor/results.json 'is not an archive that can be read'
  reports "... and in the report" out/grading/eve/a4_data_tensor/report.md 'is not an archive that can be read'
done
mkdir essays && echo words >essays/essay.txt
grade essays --lab a4
not_graded "nor is a submission without the lab that was asked for"
grade essays
refuses "... which, where none is asked for, is the grader's to say" 2 'name it with --lab'
grade missing.zip --lab a4
refuses "a submission that is not there" 2 'missing.zip'
finish
