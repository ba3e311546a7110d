#!/usr/bin/env bash
# A class under the policies of a rubric: late days, what is released later, and what a changed rubric judges
# again. Needs LAB_SOURCE_DIR, and the labs' programs in LAB_BIN_DIR.
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
[late]
free_days = 1
percent_per_day = 10
most_percent = 50
[a4_data_tensor]
judging = {ranks = [3], cheap_ranks = []}
late = {due = 2026-12-01T18:00:00Z}
[a5_pipeline]
judging = {ranks = [$1], cheap_ranks = []}
late = {due = "2026-12-02T13:00+01:00"}
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
  :created_at: 2026-12-02 18:00:00.123456000 Z
submission_2:
  :submitters:
  - {:name: Grace Hopper, :sid: s2, :email: grace@x.org}
  - {:name: Alan Turing, :sid: s3, :email: alan@x.org}
  :created_at: 2026-12-01 18:00:00 Z
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
marks=$out/marks.csv

policies 2
grade_all "${roster[@]}"
judged 4 "a class is graded"
says "of whom no time is known is listed" '^  a4: when 1 student handed in is unknown, .*: s4$'
has "marks.csv says when, how late, and what it was before" "$marks" \
  'a4 not judged,a4 handed in,a4 days late,a4 before late days,a5 marks'
has "a free day goes to the lab that is due first, and the next costs" "$marks" \
  '^"Lovelace, Ada".*,2026-12-02 18:00 \+00:00,1,([0-9.]+),[0-9.]+,100,[0-9.]+,0,2026-12-02 19:00 \+01:00,1,[0-9.]+,$'
before=$(sed -nE 's/^"Lovelace, Ada".*,1,([0-9.]+),$/\1/p' "$marks")
after=$(sed -nE 's/^"Lovelace, Ada".* \+00:00,1,[0-9.]+,([0-9.]+),100,.*/\1/p' "$marks")
verdict "$(awk -v b="$before" -v a="$after" 'BEGIN {exit !(b > 0 && a - 0.9 * b < 1e-9 && 0.9 * b - a < 1e-9)}'; echo $?)" \
  "... a tenth of $before: $after"
has "at the due time, nothing is late" "$marks" '^"Hopper, Grace".*,120,100,0,0,2026-12-01 18:00 \+00:00,0,120,'
has "what is unknown costs nothing" "$marks" '^"Noether, Emmy".*,late,120,100,0,0,unknown,unknown,120,'
has "the platform's import has what is left" "$out/canvas.csv" '^"Hopper, Grace",12,s2,A,120,$'
a5=$out/s1/a5_pipeline
has "the report says so" "$a5/report.md" '^Handed in 2026-12-02 19:00 \+01:00, due 2026-12-02 13:00 \+01:00: 1 day late; 10 % of the marks reached are deducted\. 0 free days are left\.$'
has "... and its headline" "$a5/report.md" '^# A5: [0-9.]+ of 100 \([0-9.]+ before late days\)'
has "... and the page" "$a5/report.html" '1 day late; 10 %'
has "... and Gradescope's file" "$a5/results.json" "\"score\": $after"
cp "$a5/report.md" "$scratch/report.md"
run "$bin/labgrade" marks "$out/s1" --rubric "$rubric" --source "$root"
verdict "$(cmp -s "$a5/report.md" "$scratch/report.md"; echo $?)" "lab marks knows when it was handed in"

# Another table of times, and an extension.
policies 2 '[a5_pipeline.late.extensions]
s1 = 2026-12-04T00:00:00Z
nobody = 2026-12-04T00:00:00Z'
sed -i 's/^late = {due = "2026.*//; s/^\[a5_pipeline.late.ext/[a5_pipeline.late]\ndue = "2026-12-02T13:00+01:00"\n&/' "$rubric"
printf 'ID,a4\n14,2026-12-04T18:00:01Z\n' >"$scratch/times.csv"
grade_all "${roster[@]}" --handed-in "$scratch/times.csv"
judged 0 "policies judge nothing again"
has "an extension is another due time" "$a5/report.md" 'due 2026-12-04 00:00 \+00:00: in time'
says "an extension of nobody is said" "a5: the extension of 'nobody' is no student's"
has "a table says when: four days, one of them free" "$marks" '^"Noether, Emmy".*,84,100,0,0,2026-12-04 18:00:01 \+00:00,4,120,'
printf 'ID,a4\n14,4 December\n' >"$scratch/times.csv"
grade_all "${roster[@]}" --handed-in "$scratch/times.csv"
refuses "... in a form that can be read" 2 "times.csv: a4 of 14: expected a date and time with its offset"

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
