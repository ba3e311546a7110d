#!/usr/bin/env bash
# Compares a class as an instructor would: a copy under other names among independent solutions, groups, earlier versions,
# broken and hostile hand-ins. Needs LAB_SOURCE_DIR, and labgrade in LAB_BIN_DIR.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
type -P sim_c++ >/dev/null || { skip "sim_c++ is not installed"; exit 77; }
root=$LAB_SOURCE_DIR class=$scratch/class out=$scratch/results
mkdir -p "$class"
for student in ada bela; do
  mkdir -p "$scratch/$student/"{a4_data_tensor,a5_pipeline}/student
  awk -v folder="$scratch/$student" '/^==== / { close(file); file = folder "/" $2; next } { print >file }' \
    "$root/grading/similarity/tests/independent/$student.txt"
done

# hand_in NAME FROM [SED_SCRIPT]: A5's student files of this folder, edited, as an archive of the class.
hand_in() {
  rm -rf "$scratch/hw" && mkdir -p "$scratch/hw/a5_pipeline"
  cp -r "$2/a5_pipeline/student" "$scratch/hw/a5_pipeline/"
  [[ $# == 2 ]] || sed -i "$3" "$scratch/hw/a5_pipeline/student/"*.cpp
  tar -C "$scratch/hw" -czf "$class/$1" a5_pipeline
}
similar() { run "$bin/labgrade" similar "$class" --out "$out" --source "$root" "$@"; }
says() { verdict "$(grep -qE -- "$2" "$scratch/out"; echo $?)" "$1"; }
to_look_at() { grep -c '<section id="a5_pipeline_' "$out/similarity/index.html"; }

renamed='s/\boutputs\b/outs/g; s/\binputs\b/ins/g; s/const at::Tensor/auto/; s#^  // .*##'
hand_in lovelaceada_11_101_a5.tar.gz "$root"
hand_in hopper_12_102_a5.tar.gz "$root" "$renamed"
hand_in turing_13_103_a5.tar.gz "$scratch/ada"
hand_in noether_14_104_a5.tar.gz "$scratch/bela"
similar
verdict "$([[ $code == 0 && $(to_look_at) == 1 ]]; echo $?)" "a copy under other names is found, and nothing else: exit code $code, $(to_look_at) pairs"
says "... with who, how much and where" \
  '^\* +([89][0-9]|100) % of [^;]*hopper[^;]*, +([89][0-9]|100) % of [^;]*lovelaceada[^;]*; [0-9]+ runs, the longest of [0-9]+ tokens: student/'
says "... among all pairs" '^a5_pipeline: 4 hand-ins, 6 pairs compared, 1 to look at$'
says "the rest is below the limit" '^ +[12][0-9] % of '
says "it says what a match does not show" 'never a mark by itself'
verdict "$(grep -q 'href="#a5_pipeline_1"' "$out/similarity/index.html"; echo $?)" "the table leads to both sides of the pair"
verdict "$(! grep -qE '(src|href)="?(https?:)?//' "$out/similarity/"*.html; echo $?)" "the page does not need the network"
cp "$scratch/out" "$scratch/first"
similar
verdict "$(cmp -s "$scratch/first" "$scratch/out"; echo $?)" "the same again says the same"

hand_in lovelaceada_11_105_a5-1.tar.gz "$root" "$renamed"
rm "$class/hopper_12_102_a5.tar.gz"
similar
verdict "$([[ $code == 0 && $(to_look_at) == 0 ]]; echo $?)" "a student's earlier version is not a pair"

rm -rf "$class" && mkdir -p "$class/submission_1" "$class/submission_2" "$class/submission_3"
for i in 1 2 3; do hand_in "submission_$i/a5.tar.gz" "$root"; done
cat >"$class/submission_metadata.yml" <<'END'
submission_1:
  :submitters:
  - :name: Ada
    :sid: s1
    :email: ada@x
  - :name: Bea
    :sid: s2
    :email: bea@x
submission_2:
  :submitters:
  - :name: Bea
    :sid: s2
    :email: bea@x
submission_3:
  :submitters:
  - :name: Cyd
    :sid: s3
    :email: cyd@x
END
similar
says "a group's hand-in is not compared with a member's, but with others'" '^a5_pipeline: 3 hand-ins, 2 pairs compared, 2 to look at$'

rm -rf "$class" && mkdir "$class"
hand_in one.tar.gz "$root"
for name in '<script>alert(1)<b>' $'two\n\e[31mlines' 'no code' repeats; do mkdir -p "$class/$name/a5_pipeline/student"; done
cp "$root/a5_pipeline/student/"*.cpp "$class/<script>alert(1)<b>/a5_pipeline/student/"
printf 'int x = f(1); /* \xe2\x80\xae "</pre><script>' >"$class/"$'two\n\e[31mlines/a5_pipeline/student/baseline.cpp'
echo 'no archive' >"$class/broken_a5.zip"
head -c 300000 /dev/zero | tr '\0' ';' >"$class/no code/a5_pipeline/student/baseline.cpp"
head -c 240000 /dev/zero | sed 's/\x0/a+/g' | head -c 240000 >"$class/repeats/a5_pipeline/student/baseline.cpp"
similar
verdict "$([[ $code == 8 ]]; echo $?)" "what cannot be compared is said: exit code $code"
says "... a broken archive" '^  not compared: broken_a5\.zip: is not an archive that can be read'
says "... too much code" '^  not compared: no code: a5_pipeline: has 29[0-9] KiB of code, expected at most 256 KiB'
says "... what keeps sim_c++ busy, next to which the others are compared" '^  not compared: repeats: a5_pipeline: takes sim_c\+\+ more than 5 s'
says "... and a copy is still found" '^\* 100 % of '
verdict "$(! grep -q $'\e' "$scratch/out"; echo $?)" "no name moves the cursor"
verdict "$(! grep -qi '<script>alert' "$out/similarity/"*.html; echo $?)" "no name is HTML"
run "$bin/labgrade" similar "$scratch/nowhere" --out "$out" --source "$root"
refuses "a folder that is not there" 2 'nowhere: '
mkdir "$scratch/empty"
run "$bin/labgrade" similar "$scratch/empty" --out "$out" --source "$root"
refuses "a folder without hand-ins" 2 'expected submissions in it'
run env PATH=/nowhere "$bin/labgrade" similar "$class" --out "$out" --source "$root"
refuses "without sim_c++" 2 'apt-get install similarity-tester'
similar --share 0
refuses "a share of nothing" 2 '--share'
similar --names 'x'
refuses "a pattern without a student" 2 '\{id\}'
finish
