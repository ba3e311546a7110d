#!/usr/bin/env bash
# A class under the policies of a rubric: what is released later, and what a changed rubric judges again. Needs LAB_SOURCE_DIR, and the labs' programs in LAB_BIN_DIR.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
root=$LAB_SOURCE_DIR build=${LAB_BIN_DIR%/bin}
class=$scratch/class out=$scratch/results rubric=$scratch/ours.toml
mkdir -p "$class"

# hand_in FOLDER LAB...: the reference, in a folder of the class.
hand_in() {
  local folder=$class/$1 lab
  for lab in "${@:2}"; do
    mkdir -p "$folder/$lab" && cp -r "$root/$lab/student" "$folder/$lab/"
  done
}
# policies A5_RANKS [LINES]: the rubric's file.
policies() {
  cat >"$rubric" <<END
[a4_data_tensor]
judging = {ranks = [3], cheap_ranks = []}
[a5_pipeline]
judging = {ranks = [$1], cheap_ranks = []}
${2-}
END
}
grade_all() { run "$bin/labgrade" grade-all "$class" --out "$out" --seed 4711 --rubric "$rubric" --source "$root" --build "$build" "$@"; }
says() { verdict "$(grep -qE -- "$2" "$scratch/out"; echo $?)" "$1"; }
has() { verdict "$(grep -qE -- "$3" "$2"; echo $?)" "$1"; }
lacks() { verdict "$([[ -s $2 ]] && ! grep -qE -- "$3" "$2"; echo $?)" "$1"; }
judged() { verdict "$([[ $(grep -c 'report\.md$' "$scratch/out") == "$1" ]]; echo $?)" "$2"; }

hand_in submission_1 a4_data_tensor a5_pipeline
printf 'name = "Ada Lovelace"\nid = "s1"\n' >"$class/submission_1/identity.toml"
sed -i 's/BEGIN SOLUTION a4.single_step/&\n  throw std::runtime_error("Ada Lovelace was here");/' \
  "$class/submission_1/a4_data_tensor/student/single_step.cpp"
hand_in submission_2 a4_data_tensor
hand_in noetheremmy_LATE_14_105_a4 a4_data_tensor
cat >"$class/submission_metadata.yml" <<'END'
submission_1:
  :submitters:
  - {:name: Ada Lovelace, :sid: s1, :email: ada@x.org}
submission_2:
  :submitters:
  - {:name: Grace Hopper, :sid: s2, :email: grace@x.org}
  - {:name: Alan Turing, :sid: s3, :email: alan@x.org}
END
cat >"$scratch/roster.csv" <<'END'
Student,ID,SIS User ID,Section,A4 (1),A5 (2)
"Lovelace, Ada",11,s1,A,,
"Hopper, Grace",12,s2,A,,
"Turing, Alan",13,s3,A,,
"Noether, Emmy",14,s4,A,,
"Franklin, Rosalind",15,s5,A,,
END
roster=(--roster "$scratch/roster.csv")

policies 2
grade_all "${roster[@]}"
judged 4 "a class is graded"

# Part of it is released later.
policies 2 '[[a4_data_tensor.release]]
at = 2026-12-10T12:00:00Z
what = ["seed", "a4.accumulation", "Baseline"]'
grade_all "${roster[@]}" --as-of 2026-12-10T11:59:59Z
judged 0 "a release judges nothing again"
a4=$out/s2/a4_data_tensor
for file in report.md report.html results.json; do
  has "$file: says what is held back" "$a4/$file" 'Held back until 2026-12-10 12:00 \+00:00: the seed, 1 item, 1 check'
  lacks "... and not what it is" "$a4/$file" 4711
done
lacks "... nor the item" "$a4/report.md" 'a4.accumulation'
lacks "... nor the check, right as it is" "$a4/report.html" 'Right: Baseline,'
grade_all "${roster[@]}" --as-of 2026-12-10T12:00:00Z
has "from then on, it is there" "$a4/report.md" 4711
has "... and the item" "$a4/report.md" 'a4.accumulation'
has "... and the check" "$a4/report.html" 'Right: Baseline,'
run "$bin/labgrade" marks "$out/s2" --rubric "$rubric" --source "$root" --as-of 2026-12-10T13:59:59+02:00
lacks "lab marks holds back the same" "$a4/report.md" '4711|a4.accumulation'
policies 2 '[[a4_data_tensor.release]]
at = 2026-12-10T12:00:00Z
what = ["Baselin"]'
grade_all
refuses "a misspelt check would hold nothing back" 2 "expected \"seed\", the id of an item or the name of a check of a4_data_tensor, got 'Baselin'; did you mean 'Baseline'"
policies 2
grade_all --as-of tomorrow
refuses "a moment without an offset is refused" 2 '^--as-of: expected a date and time|--as-of: expected a date and time'

# What a changed rubric touches.
policies 3
grade_all "${roster[@]}"
judged 1 "other sizes for one lab judge that lab again, and no other"

# Numbers of one's own.
run "$bin/labcourse" questions a9 --root "$root"
says "without a policy, everybody has the handout's questions" 'src = 1.*10 \* \(r \+ 1\)'
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
