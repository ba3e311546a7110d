#!/usr/bin/env bash
# The autograder's steps as its files have them, in a bare Debian 12: those of the Dockerfile, then run_autograder for a
# right and a wrong hand-in. Takes a quarter of an hour: everything is compiled.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
source "$LAB_SOURCE_DIR/common/testing/bare_root.sh"
root=$LAB_SOURCE_DIR
make_bare_root || exit 77
run "$root/lab" --no-install autograder gradescope a4 --out "$scratch/autograder.zip"
verdict "$code" "the archive is packed"
source_folder=$bare_root/autograder/source
mkdir -p "$source_folder"
(cd "$source_folder" && cmake -E tar xf "$scratch/autograder.zip")

in_bare_root 'sed -i "s/^ID=.*/ID=ubuntu/; s/^VERSION_ID=.*/VERSION_ID=22.04/" /etc/os-release && bash /autograder/source/setup.sh'
verdict "$([[ $code == 1 ]] && grep -q 'expected Debian 12 or 13, .* this image is ubuntu 22.04' "$scratch/out"; echo $?)" \
  "on the platform's own image, setup.sh says which one it takes"
in_bare_root 'sed -i "s/^ID=.*/ID=debian/; s/^VERSION_ID=.*/VERSION_ID=12/" /etc/os-release'

skip "COPY --from=harness: the platform's harness is not needed to grade"
while IFS= read -r step; do
  in_bare_root "$step"
  verdict "$code" "RUN $step"
  [[ $code == 0 ]] || { tail -n 30 "$scratch/out"; finish; exit 1; }
done < <(sed -n 's/^RUN //p' "$source_folder/Dockerfile")
verdict "$(grep -q '^FROM debian:12$' "$source_folder/Dockerfile"; echo $?)" "the Dockerfile's image is this root's system"

# graded PATTERN WHAT: the submission in $scratch/hand_in gets a result like it.
graded() {
  rm -rf "$bare_root/autograder/submission" "$bare_root/autograder/results"
  cp -r "$scratch/hand_in" "$bare_root/autograder/submission"
  local start=$SECONDS
  in_bare_root 'cd /autograder && ./run_autograder'
  verdict "$([[ $code == 0 ]] && grep -m 1 '"output":' "$bare_root/autograder/results/results.json" | grep -qE -- "$1"; echo $?)" \
    "$2 ($((SECONDS - start)) s)"
}
mkdir -p "$scratch/hand_in/a4_data_tensor"
cp -r "$root/a4_data_tensor/student" "$scratch/hand_in/a4_data_tensor/"
graded 'A4: 120 of 100' "a right hand-in gets all marks"
graded 'isolation: [^\\]*bubblewrap' "... and the result says how it was confined"
grep -m 1 -o 'isolation: [^\\]*' "$bare_root/autograder/results/results.json"
sed -i 's/BEGIN SOLUTION a4.single_step/&\n  throw 1;/' "$scratch/hand_in/a4_data_tensor/student/single_step.cpp"
graded 'A4: 1[01][0-9](\.[0-9]+)? of 100' "one with a task that throws gets the others' marks"
finish
