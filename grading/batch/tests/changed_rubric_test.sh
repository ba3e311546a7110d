#!/usr/bin/env bash
# What another rubric changes for a class that is graded already, and numbers of each student's own. Needs
# LAB_SOURCE_DIR, and the labs' programs in LAB_BIN_DIR.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
root=$LAB_SOURCE_DIR build=${LAB_BIN_DIR%/bin}
class=$scratch/class out=$scratch/results rubric=$scratch/ours.toml report=$scratch/results/ada/a4_data_tensor/report.md

for lab in a4_data_tensor a5_pipeline; do
  mkdir -p "$class/ada/$lab" && cp -r "$root/$lab/student" "$class/ada/$lab/"
done
# rubric_with A5_RANKS [LINES]: the rubric's file.
rubric_with() {
  cat >"$rubric" <<END
[a4_data_tensor]
judging = {ranks = [3], cheap_ranks = []}
[a5_pipeline]
judging = {ranks = [$1], cheap_ranks = []}
${2-}
END
}
grade_all() { run "$bin/labgrade" grade-all "$class" --out "$out" --seed 4711 --rubric "$rubric" --source "$root" --build "$build" "$@"; }
judged() { verdict "$([[ $(grep -c 'report\.md$' "$scratch/out") == "$1" ]]; echo $?)" "$2"; }

rubric_with 2
grade_all
judged 2 "a hand-in of two labs is graded"
rubric_with 2 '[[a4_data_tensor.task]]
id = "a4.accumulation"
visibility = "hidden"'
grade_all
judged 0 "another visibility judges nothing again"
verdict "$([[ -s $report ]] && ! grep -q 'a4\.accumulation' "$report"; echo $?)" "... and the report has only what is visible"
rubric_with 3
grade_all
judged 1 "other sizes for one lab judge that lab again, and no other"
verdict "$(grep -q 'a4\.accumulation' "$report"; echo $?)" "... and what is visible again is in its report"

# Numbers of one's own.
run "$bin/labcourse" questions a9 --root "$root"
says "without own_numbers, everybody has the handout's questions" 'src = 1.*10 \* \(r \+ 1\)'
printf '[a9_collectives]\nown_numbers = "a year"\n' >"$scratch/numbers.toml"
run "$bin/labgrade" answers a9 --for s1 --rubric "$scratch/numbers.toml" --source "$root"
says "the key has a student's own questions" '^These are the numbers of s1, in place of'
says "... and what their tables must hold" '^    rank 3, printed y: [0-9]+$'
own=$(grep 'Q1: broadcast values: ' "$scratch/out")
run "$bin/labgrade" answers a9 --for s2 --rubric "$scratch/numbers.toml" --source "$root"
verdict "$([[ $own && $own != "$(grep 'Q1: broadcast values: ' "$scratch/out")" ]]; echo $?)" "... which are not a neighbour's: $own"
run "$bin/labgrade" answers a4 --for s2 --source "$root"
refuses "a lab whose questions have no numbers" 2 'a4_data_tensor: expected a lab with numbers'
finish
