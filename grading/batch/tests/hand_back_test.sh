#!/usr/bin/env bash
# Every command of grading/README.md's page "From release to hand-back", in its order, for a class of two. Needs
# LAB_SOURCE_DIR, and what `lab grade` builds in LAB_BIN_DIR, which must be the release build.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
root=$LAB_SOURCE_DIR
[[ $LAB_BIN_DIR -ef $root/build/release/bin ]] || { skip "./lab uses the release build, and these are the tests of another"; exit 77; }
mkdir "$scratch/course" && cd "$scratch/course" || exit 2
ln -s "$root/lab" lab

mkdir -p submissions hand_in/a4_data_tensor
cp -r "$root/a4_data_tensor/student" hand_in/a4_data_tensor/
pack() { (cd hand_in && cmake -E tar cf "../submissions/$1" --format=zip a4_data_tensor); }
pack lovelace_4711_98765_a4.zip
sed -i 's/BEGIN SOLUTION a4.single_step/&\n  throw 1;/' hand_in/a4_data_tensor/student/single_step.cpp
pack hopper_4712_98766_a4.zip
cat >gradebook.csv <<'END'
Student,ID,SIS User ID,Section,A4 Data and tensor parallel (77)
"    Points Possible",,,,100
"Lovelace, Ada",4711,s1234567,A,
"Hopper, Grace",4712,s1234568,B,
END
printf '[a4_data_tensor]\n[[a4_data_tensor.task]]\nid = "a4.single_step"\nmarks = 1\n' >weights.toml

mapfile -t commands < <(sed -n '/^## From release to hand-back$/,/^## What/s/^    \(\.\/lab .*\)$/\1/p' "$root/grading/README.md")
verdict "$([[ ${#commands[@]} -ge 10 ]]; echo $?)" "the page has ${#commands[@]} commands"
files=(index.html marks.csv s1234567/a4_data_tensor/report.html s1234568/a4_data_tensor/report.html)
canvas_before=
for command in "${commands[@]}"; do
  [[ $command != *weights.toml* || $canvas_before ]] || canvas_before=$(cat out/class/canvas.csv)
  if [[ $command == *'lab similar'* ]]; then
    type -P sim_c++ >/dev/null || { skip "sim_c++ is not installed"; continue; }
    files+=(similarity/index.html)
  fi
  command=${command/ --prebuilt/}  # compiles for a minute, which whole_starter_test.sh has done
  run bash -c "${command/.\/lab /./lab --no-install }"
  verdict "$code" "${command%%  *}"
done

verdict "$([[ -f starter/a4_data_tensor/student/single_step.cpp && ! -e starter/grading ]]; echo $?)" "the starter is there"
verdict "$([[ -s autograder.zip ]]; echo $?)" "the autograder's archive is there"
verdict "$(grep -qx '"Lovelace, Ada",4711,s1234567,A,120' <<<"$canvas_before"; echo $?)" "canvas.csv has the marks of the right hand-in"
verdict "$(grep -qE '^"Hopper, Grace",4712,s1234568,B,1[01][0-9]' <<<"$canvas_before"; echo $?)" "... and of the wrong one"
verdict "$([[ $(cat out/class/canvas.csv) != "$canvas_before" ]]; echo $?)" "... and others with other weights"
for file in "${files[@]}"; do
  verdict "$([[ -s out/class/$file ]]; echo $?)" "out/class/$file is there"
done
verdict "$(grep -q 'a4.single_step' again/a4_data_tensor/report.md; echo $?)" "the hand-in that was graded by itself has its report"
finish
