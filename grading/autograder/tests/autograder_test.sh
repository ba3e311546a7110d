#!/usr/bin/env bash
# What `lab autograder` packs, and what its run_autograder leaves for right, wrong and unreadable hand-ins, and when the
# grading itself fails. Needs LAB_SOURCE_DIR, and the labs' programs in LAB_BIN_DIR.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
root=$LAB_SOURCE_DIR build=${LAB_BIN_DIR%/bin}
archive="$scratch/a\\1|b&c d.zip"  # as hard as a name can be
AUTOGRADER=$scratch/autograder
export AUTOGRADER

autograder() { run "$root/lab" --no-install autograder "$@"; }
autograder gradescope a4 --out "$archive" --seed 7
verdict "$([[ $code == 0 ]] && grep -qF 'for gradescope, with all solutions' "$scratch/out"; echo $?)" "it is packed, and says that it has solutions"
mkdir -p "$AUTOGRADER/source"
(cd "$AUTOGRADER/source" && cmake -E tar xf "$archive")
source "$AUTOGRADER/source/settings.sh"
verdict "$([[ "$graded_lab ${grade_options[*]}" == 'a4_data_tensor --lab a4_data_tensor --seed 7' ]]; echo $?)" "its settings name the lab and the seed"
for file in setup.sh run_autograder suite/lab suite/a4_data_tensor/run.sh; do
  verdict "$([[ -x $AUTOGRADER/source/$file ]]; echo $?)" "$file can be executed"
done
verdict "$(! grep -rq '{{' "$AUTOGRADER/source/README.md"; echo $?)" "its README has no placeholder left"
verdict "$(grep -qF "unzip ${archive##*/} -d" "$AUTOGRADER/source/README.md"; echo $?)" "... and names the archive"
verdict "$([[ ! -e $AUTOGRADER/source/suite/build && ! -e $AUTOGRADER/source/suite/.git ]]; echo $?)" "what was built is not packed"

refused() { refuses "$1" 2 "$2"; }
autograder canvas a4; refused "an unknown platform" "expected a platform, one of gradescope; got 'canvas'"
autograder; refused "no platform" "expected a platform"
autograder tests a4; refused "a folder that is no platform" "got 'tests'"
autograder gradescope; refused "no lab" 'expected a lab, such as: lab autograder gradescope a9'
autograder gradescope a8; refused "an unknown lab" "unknown lab 'a8'"
autograder gradescope a4 a5; refused "two labs" "one platform and one lab; got 'a5' as well"
autograder gradescope a4 --seed x; refused "a seed that is none" "--seed: expected an integer from 0 on, got 'x'"
autograder gradescope a4 --out; refused "an option without a value" '--out: expected a value'
autograder gradescope a4 --out "$scratch/no/such/folder.zip"; refused "a file that cannot be written" '--out: cannot write'
printf '[a4_data_tensor]\n[[a4_data_tensor.task]]\nid = "a4.no_such_task"\nmarks = 1\n' >"$scratch/rubric.toml"
autograder gradescope a4 --rubric "$scratch/rubric.toml"; refused "a rubric with an unknown task" "a4.no_such_task"
autograder gradescope a4 --rubric "$scratch/none.toml"; refused "a rubric that is not there" 'none.toml'
autograder gradescope a4 --sed 7; refused "an unknown option" "does not know '--sed'"

# The suite's own folder stands in for the unpacked one, which would have to be built first.
cat >"$AUTOGRADER/source/suite/lab" <<END
#!/usr/bin/env bash
[[ \$1 == --no-install ]] && exec "$bin/labgrade" "\${@:2}" --source "$root" --build "$build"
END
# submitted WHAT FOLDER: judges a copy of FOLDER as a submission.
submitted() {
  rm -rf "$AUTOGRADER/submission" "$AUTOGRADER/results"
  cp -r "$1" "$AUTOGRADER/submission"
  run "$AUTOGRADER/source/run_autograder"
}
# score PATTERN: the line of the whole result.
score() { grep -m 1 '"output":' "$AUTOGRADER/results/results.json" | grep -qE -- "$1"; }

mkdir -p "$scratch/hand_in/a4_data_tensor"
cp -r "$root/a4_data_tensor/student" "$scratch/hand_in/a4_data_tensor/"
submitted "$scratch/hand_in"
verdict "$([[ $code == 0 ]] && score 'A4: 120 of 100.*--seed 7'; echo $?)" "a right hand-in gets its marks, from the seed of the settings"
verdict "$(score 'isolation: '; echo $?)" "... and the result says how it was confined"
mkdir "$scratch/archived"
(cd "$scratch/hand_in" && cmake -E tar cf "$scratch/archived/a4.zip" --format=zip a4_data_tensor)
submitted "$scratch/archived"
verdict "$([[ $code == 0 ]] && score 'A4: 120 of 100'; echo $?)" "so does an archive that the platform did not unpack"
rm -r "$scratch/hand_in/a4_data_tensor/student/"*
echo 'hello' >"$scratch/hand_in/a4_data_tensor/student/notes.txt"
submitted "$scratch/hand_in"
verdict "$([[ $code == 0 ]] && score 'A4: 0 of 100.* not judged'; echo $?)" "a hand-in without the lab's files is not judged, and the result says so"
echo 'graded_lab=a4_data_tensor grade_options=(--lab a4 --rubric /no/such/file)' >"$AUTOGRADER/source/settings.sh"
submitted "$scratch/hand_in"
verdict "$([[ $code == 1 && ! -e $AUTOGRADER/results/results.json ]] && grep -q 'lab grade ended with exit code 2' "$scratch/err"; echo $?)" \
  "where the grading fails there is no result, and no mark of 0"
finish
