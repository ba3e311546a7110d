#!/usr/bin/env bash
# Grades a class as an instructor would: a bulk download with right, wrong, late, repeated and broken hand-ins; stopped,
# killed and resumed; changed and graded again. Needs LAB_SOURCE_DIR, and the labs' programs in LAB_BIN_DIR.
source "$LAB_SOURCE_DIR/grading/batch/tests/small_class.sh"
grade_all() { run "$bin/labgrade" grade-all "$class" --out "$out" --seed 5 "${how[@]}" "$@"; }
# marks WHAT PATTERN: marks.csv has a line like it.
marks() { verdict "$(grep -qE -- "$2" "$out/marks.csv"; echo $?)" "$1"; }
# judged N WHAT: the last run judged N hand-ins.
judged() { verdict "$([[ $(grep -c 'report\.md$' "$scratch/out") == "$1" ]]; echo $?)" "$2"; }

hand_in lovelaceada_11_101_a4.tar.gz
hand_in hoppergrace_LATE_12_102_a4.tar.gz 's/BEGIN SOLUTION a4.single_step/&\n  throw 1;/'
hand_in hoppergrace_12_103_a4-1.tar.gz '$a // the second time'
echo 'PNG' >"$class/hoppergrace_12_108_screenshot.png"
hand_in turingalan_13_104_hw.tar.gz 's/BEGIN SOLUTION a4.single_step/&\n  throw 1;/'
echo 'no archive' >"$class/noetheremmy_14_105_a4.zip"
tar -C "$scratch" -czf "$class/curiemarie_15_106_x.tar.gz" one_size.toml
echo 'hello' >"$class/notes.txt"
cat >"$scratch/roster.csv" <<'END'
Student,ID,SIS User ID,Section
"    Points Possible",,,
"Lovelace, Ada",11,s11,=A
"Hopper, Grace",12,s12,B
"Turing, Alan",13,s13,B
"Noether, Emmy",14,s14,B
"Curie, Marie",15,s15,B
"Franklin, Rosalind",16,s16,B
END
roster=(--roster "$scratch/roster.csv")

grade_all "${roster[@]}"
verdict "$([[ $code == 8 ]]; echo $?)" "one hand-in that cannot be graded does not stop the others: exit code $code"
says "... and is named, with the reason" '^  not graded: curiemarie_15_106_x\.tar\.gz: no lab is in it'
says "a file that is not a hand-in is listed" '^  notes\.txt is not an archive: left out'
says "a hand-in that was replaced is listed" 'hoppergrace_LATE_12_102.*a4_data_tensor was handed in again: hoppergrace_12_103'
marks "the roster's columns are kept, and no cell is a formula" "^\"?Lovelace, Ada\"?,11,s11,'=A,s11,lovelaceada_11_101_a4.tar.gz,,120,100,"
marks "the last version counts, which was not late" '^"Hopper, Grace",12,s12,B,s12,hoppergrace_12_103_a4-1.tar.gz,,120,'
marks "a task that throws costs its marks" '^"Turing, Alan",13,s13,B,s13,turingalan_13_104_hw.tar.gz,,1[01][0-9],100,'
marks "nor has what cannot be read" '^"Noether, Emmy",14,s14,B,s14,,,,,,,not graded: noetheremmy_14_105_a4.zip: is not an archive'
verdict "$([[ ! -e $out/s14/a4_data_tensor ]]; echo $?)" "... and no results"
marks "what was not graded has no marks" '^"Curie, Marie",15,s15,B,[^,]*,,,,,,,"?not graded'
marks "who handed in nothing has a row" '^"Franklin, Rosalind",16,s16,B,,,,,,,,nothing handed in'
show_results "$out" >"$scratch/unbroken"

for student in s11:lovelaceada_11_101_a4.tar.gz s13:turingalan_13_104_hw.tar.gz; do
  run "$bin/labgrade" grade "$class/${student#*:}" --out "$scratch/alone/${student%%:*}" --seed 5 "${how[@]}"
done
show_results "$scratch/alone" >"$scratch/one_by_one"
(cd "$out" && rm -rf ../two && mkdir ../two && cp -r s11 s13 ../two)
show_results "$scratch/two" >"$scratch/of_class"
verdict "$(cmp -s "$scratch/one_by_one" "$scratch/of_class" && [[ -s $scratch/of_class ]]; echo $?)" \
  "the same as graded one by one, to the byte"

grade_all "${roster[@]}"
judged 0 "nothing is graded twice"
says "... and the run says so" '6 hand-ins, 1 of the roster without one: 0 to grade, 3 as before; seed 5'

# Into the platform's gradebook.
awk -F, 'BEGIN {OFS = ","} {print $0, NR == 1 ? "A4 Steps (77)" : NR == 2 ? "100.00" : "", NR == 1 ? "A40 (78)" : ""}' \
  "$scratch/roster.csv" >"$scratch/gradebook.csv"
grade_all --roster "$scratch/gradebook.csv"
imports() { verdict "$(grep -qxE -- "$2" "$out/$3.csv"; echo $?)" "$1"; }
says "the platform's import is written" 'results/canvas.csv: to be imported$'
imports "Canvas: the assignment's column" 'Student,ID,SIS User ID,Section,A4 Steps \(77\)' canvas
imports "... with marks" "\"Lovelace, Ada\",11,s11,'=A,120" canvas
imports "... and none where nothing was handed in" '"Franklin, Rosalind",16,s16,B,' canvas
grade_all --roster "$scratch/gradebook.csv" --column 'a4=A40 (78)'
imports "Canvas: the column that was named" 'Student,ID,SIS User ID,Section,A40 \(78\)' canvas
grade_all --roster "$scratch/gradebook.csv" --column 'a4=A4 Step (77)'
refuses "... or is not there" 2 "no column 'A4 Step \(77\)'.*did you mean 'A4 Steps \(77\)'"
grade_all --column 'a4=A4 Steps (77)'; refuses "... or is in no roster" 2 'expected --roster FILE'
sed -e '1s/.*/Identifier,Full name,ID number,Grade,Maximum Grade/' -e 2d \
  -e 's/^\("[^"]*"\),\([0-9]*\),\(s[0-9]*\),.*/Participant \2,\1,\3,,120.00/' "$scratch/roster.csv" >"$scratch/worksheet.csv"
grade_all --roster "$scratch/worksheet.csv"
judged 0 "another roster grades nobody again"
imports "Moodle: the worksheet" 'Participant 11,"Lovelace, Ada",s11,120,120.00' moodle
says "... and what does not fit is said" 'moodle.csv of a4: the platform counts 120 marks, the rubric 100'
grade_all "${roster[@]}"
rm "$out/s11/a4_data_tensor/outcome.json"
grade_all "${roster[@]}"
judged 1 "files that are lost are written again"
show_results "$out" >"$scratch/again"
verdict "$(cmp -s "$scratch/unbroken" "$scratch/again"; echo $?)" "... from what is kept"
hand_in turingalan_13_104_hw.tar.gz
echo 'a note of his own' >"$scratch/hw/a4_data_tensor/extra.txt"
tar -C "$scratch/hw" -czf "$class/turingalan_13_104_hw.tar.gz" a4_data_tensor
hand_in newton_17_107_a4.tar.gz '$a // new'
grade_all "${roster[@]}" --changed
judged 1 "--changed grades what was graded before and is different now"
marks "... with its new marks" '^"Turing, Alan",13,s13,B,s13,turingalan_13_104_hw.tar.gz,,120,'
# It has the code of lovelace's now, which was judged already.
seconds() { grep -o '"seconds": [0-9.]*' "$out/$1/a4_data_tensor/outcome.json"; }
verdict "$([[ $(seconds s13) == "$(seconds s11)" ]]; echo $?)" "code that another has handed in is not judged again"
run "$bin/labgrade" grade "$class/turingalan_13_104_hw.tar.gz" --out "$scratch/turing/s13" --seed 5 "${how[@]}"
mkdir "$scratch/of_turing" && cp -r "$out/s13" "$scratch/of_turing"
verdict "$(cmp -s <(show_results "$scratch/turing") <(show_results "$scratch/of_turing"); echo $?)" \
  "... and the results are those of grading it alone, to the byte"
verdict "$(grep -q 'extra.txt' "$out/s13/a4_data_tensor/report.md"; echo $?)" "... with what was noted about this hand-in"
verdict "$(grep -q 'href="s13/a4_data_tensor/report.html">120<' "$out/index.html"; echo $?)" "the class's page links to the reports"
verdict "$(grep -q 'Turing, Alan' "$out/index.html"; echo $?)" "... and names the students"
grade_all "${roster[@]}" --only s12 --again
judged 1 "--only and --again grade one student again"
grade_all "${roster[@]}" --only s112
refuses "--only knows whom it does not know" 2 "--only s112: expected a student's id or name, or a hand-in; did you mean 's1[0-9]'\?"
grade_all "${roster[@]}" --rubric "$root/no_such_rubric.toml"
verdict "$([[ $code == 2 ]]; echo $?)" "a rubric that is not there is refused"

# Killed at any moment, and resumed.
hand_in turingalan_13_104_hw.tar.gz 's/BEGIN SOLUTION a4.single_step/&\n  throw 1;/'
rm "$class/newton_17_107_a4.tar.gz"
rm -rf "$out"
for moment in 0.3 1.5 3 4; do
  "$bin/labgrade" grade-all "$class" --out "$out" --seed 5 --jobs 1 "${how[@]}" "${roster[@]}" >>"$scratch/broken" 2>&1 &
  grading=$!
  sleep "$moment"
  kill -KILL "$grading" 2>/dev/null
  wait "$grading" 2>/dev/null
done
grade_all "${roster[@]}" --jobs 1
cat "$scratch/out" >>"$scratch/broken"
show_results "$out" >"$scratch/resumed"
verdict "$(cmp -s "$scratch/unbroken" "$scratch/resumed"; echo $?)" "killed four times and resumed: the same results"
rm -rf "$out"
how=(--source "$root" --build "$build")  # on all sizes, which takes longer
# A shell starts background commands with SIGINT ignored, and what is ignored stays so.
env --default-signal=INT "$bin/labgrade" grade-all "$class" --out "$out" --seed 5 --jobs 1 "${how[@]}" >"$scratch/first" 2>&1 &
grading=$!
for _ in $(seq 600); do grep -q 'report.md$' "$scratch/first" && break; sleep 0.05; done
grade_all; refuses "a second grading of the same class is refused" 2 'another grading is at work with these results'
kill -INT "$grading"
wait "$grading"
code=$?
verdict "$([[ $code == 130 ]] && grep -q 'stopped; what is graded is kept' "$scratch/first"; echo $?)" \
  "Ctrl-C: what is graded is kept, exit code $code"
done_before=$(grep -c 'report\.md$' "$scratch/first")
grade_all
judged $((3 - done_before)) "... and the rest is graded by the same command"

mv "$out" "$class/results"
run "$bin/labgrade" grade-all "$class" --out "$class/results" --seed 5 "${how[@]}"
says "the folder of results is not taken for a hand-in" '^6 hand-ins: 0 to grade'
mv "$class/results" "$out"

# As the platform packs it.
how+=(--rubric "$scratch/one_size.toml")
tar -C "$class" -czf "$scratch/all.tar.gz" .
class=$scratch/all.tar.gz
rm -rf "$out"
grade_all "${roster[@]}"
show_results "$out" >"$scratch/packed"
verdict "$(cmp -s "$scratch/unbroken" "$scratch/packed"; echo $?)" "a bulk download is graded as its folder is"
finish
