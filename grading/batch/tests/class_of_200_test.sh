#!/usr/bin/env bash
# A class of 200, who handed in the reference, the starter, and the reference without one of its files, of A4 and A9, each
# code several times: judged are only the distinct ones. With a folder as argument the class and its results stay there,
# to be looked at.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
root=$LAB_SOURCE_DIR build=${LAB_BIN_DIR%/bin}
class=$scratch/class out=${1:-$scratch}/results
mkdir -p "$class" "$out"
labs=(a4_data_tensor a9_collectives)

# Each code once, as $scratch/codes/LAB/NAME/student.
run "$bin/labstarter" "$scratch/starter" --labs a4,a9 --source "$root"
verdict "$code" "the starter"
for lab in "${labs[@]}"; do
  mkdir -p "$scratch/codes/$lab"/{reference,starter}
  cp -r "$root/$lab/student" "$scratch/codes/$lab/reference/"
  cp -r "$scratch/starter/$lab/student" "$scratch/codes/$lab/starter/"
  while read -r file; do
    name=without_$(basename "$(dirname "$file")")_$(basename "$file" .cpp)
    mkdir -p "$scratch/codes/$lab/$name"
    cp -r "$root/$lab/student" "$scratch/codes/$lab/$name/"
    cp "$scratch/starter/$lab/student/$file" "$scratch/codes/$lab/$name/student/$file"
  done < <(cd "$root/$lab/student" && find . -name '*.cpp')
done

# Student i has the i-th code of each lab, again from the first when all have been handed out.
echo 'Student,ID,SIS User ID,Section' >"$scratch/roster.csv"
for i in $(seq 200); do
  for lab in "${labs[@]}"; do
    codes=("$scratch/codes/$lab"/*)
    mkdir -p "$scratch/hand_in/$lab"
    cp -r "${codes[i % ${#codes[@]}]}/student" "$scratch/hand_in/$lab/"
    tar -C "$scratch/hand_in" -czf "$class/student${i}_$((1000 + i))_$((5000 + i))_${lab%%_*}.tar.gz" "$lab"
    rm -r "$scratch/hand_in"
  done
  echo "\"Student, Number $i\",$((1000 + i)),s$i,$((i % 4))" >>"$scratch/roster.csv"
done

# grade_all: leaves the most memory, in KiB, that the batch's own process has had in $peak.
grade_all() {
  "$bin/labgrade" grade-all "$class" --out "$out" --roster "$scratch/roster.csv" --seed 5 --source "$root" \
    --build "$build" "$@" >"$scratch/out" 2>"$scratch/err" &
  local grading=$! now
  while now=$(awk '/VmHWM/ {print $2}' "/proc/$grading/status" 2>/dev/null) && [[ $now ]]; do peak=$now; sleep 0.2; done
  code=0
  wait "$grading" || code=$?
}
first=$(seq -s, -f 's%.0f' 20)
grade_all --only "$first"
peak_of_20=$peak
verdict "$([[ $code == 0 || $code == 8 ]]; echo $?)" "20 of the class are graded: exit code $code"
grade_all
verdict "$([[ $code == 0 || $code == 8 ]]; echo $?)" "the class is graded: exit code $code"
echo "the most memory of the batch's process: $peak_of_20 KiB for 20 students, $peak KiB for 200"
verdict "$([[ $peak -lt 1048576 && $peak -lt $((peak_of_20 + 65536)) ]]; echo $?)" "... which does not grow with the class"

# Results that were taken over have the same duration to the last digit. What is not judged is judged for each student.
judged_of() { sed -n 's/^ *"seconds": \([0-9.]*\),*$/\1/p' "$out"/s*/"$1"/outcome.json | sort -u | wc -l; }
for lab in "${labs[@]}"; do
  codes=("$scratch/codes/$lab"/*)
  judged=$(judged_of "$lab")
  verdict "$([[ $judged -ge ${#codes[@]} && $judged -le $((${#codes[@]} + 10)) ]]; echo $?)" \
    "$lab: of 200 hand-ins with ${#codes[@]} different codes, $judged are judged"
done
verdict "$([[ $(grep -c '^"Student, Number' "$out/marks.csv") == 200 ]]; echo $?)" "marks.csv has a row for each student"
verdict "$([[ $(find "$out" -name report.html | wc -l) == 400 ]]; echo $?)" "... and each has a report for both labs"
size=$(stat -c %s "$out/index.html")
verdict "$([[ $size -lt 2097152 ]]; echo $?)" "the page of the class has $size bytes"
finish
