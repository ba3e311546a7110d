#!/usr/bin/env bash
# The students' tree as instructors and students meet it: made, made again, of some labs, updated in the middle of a term,
# refused, cut short by a full disk. LAB_SOURCE_DIR is the tree that it is derived from.
source "$(dirname -- "$(readlink -f -- "$0")")/../../../common/testing/program_checks.sh"
source_tree=${LAB_SOURCE_DIR:?where the sources are}
program=$bin/labstarter
old=$scratch/old new=$scratch/new starter=$scratch/starter

# holds WHAT COMMAND...: a check by a command's exit code.
holds() {
  local what=$1
  shift
  "$@" >"$scratch/err" 2>&1
  verdict $? "$what"
}
says() { grep -qF -- "$1" "$scratch/out"; }
has_text() { [[ $(cat -- "$2" 2>/dev/null) == "$1" ]]; }
absent() { [[ ! -e $1 ]]; }

run "$program" "$starter" --source "$source_tree"
verdict "$code" "a starter of all labs"
run "$program" "$scratch/twin" --source "$source_tree"
holds "the same source gives the same bytes" diff -r "$starter" "$scratch/twin"
touch "$scratch/stamp"
run "$program" "$starter" --source "$source_tree"
verdict "$([[ $code == 0 && ! $(find "$starter" -newer "$scratch/stamp") ]]; echo $?)" "made again: no file is touched"
holds "the script, and the runs to hand in, can be started" test -x "$starter/lab" -a -x "$starter/a4_data_tensor/run.sh"
run "$starter/lab" help
verdict "$([[ $code == 0 ]] && ! grep -qE 'grade|starter|mutants' "$scratch/out"; echo $?)" "its lab help has no commands of instructors"
run "$starter/lab" starter "$scratch/x"
refuses "its lab knows no such commands" 2 "unknown command 'starter'; lab help lists the commands"

# --- some labs ---
run "$program" "$scratch/some" --labs a9,a4 --source "$source_tree"
verdict "$([[ $code == 0 && $(cd "$scratch/some" && echo *_*/) == "a4_data_tensor/ a9_collectives/" ]]; echo $?)" "--labs a9,a4: these and no others"
run "$program" "$scratch/some" --source "$source_tree"
verdict "$([[ $code == 0 && $(cd "$scratch/some" && echo *_*/) == "a4_data_tensor/ a9_collectives/" ]]; echo $?)" "updated without --labs: its own labs"
(cd "$scratch/some" && run cmake --preset release -B "$scratch/build" -DBUILD_TESTING=ON -DLAB_PREFIX="${LAB_PREFIX:-}" -DLAB_LIBTORCH="${LAB_LIBTORCH:-}" && exit "$code")
verdict $? "a starter of two labs configures"
verdict "$(! grep -qE -- ' -l(lab|a4|a9)_' "$scratch/build/build.ninja"; echo $?)" "... with every library that it links"
holds "... without tests, whatever was asked for" grep -q '^BUILD_TESTING:BOOL=OFF' "$scratch/build/CMakeCache.txt"

# --- the middle of a term: two versions of the sources, and a student between them ---
version() { # version FOLDER: a copy of the sources to change
  mkdir -p "$1"
  cp -r "$source_tree"/{common,grading,a4_data_tensor,a9_collectives,CMakeLists.txt,CMakePresets.json,LICENSE,README.md,lab} "$1"
  cp "$source_tree"/{.clang-format,.clangd,.editorconfig,.gitignore} "$1"
}
version "$old" && version "$new"
task=a9_collectives/student/broadcast/flat.cpp kept=a4_data_tensor/student/single_step.cpp header=a9_collectives/broadcast.h
gone=a9_collectives/guards.h gone_edited=a9_collectives/chunks.h
sed -i 's|// STUB // TODO(a9.broadcast): .*|// STUB // TODO(a9.broadcast): said better.|' "$new/$task"
echo '// clearer' >>"$new/$header"
rm "$new/$gone" "$new/$gone_edited"

term() { # term FOLDER: a starter of the old version with a student's work in it
  run "$program" "$1" --source "$old"
  seq 3000 | sed 's|^|// my work |' >"$scratch/essay"
  cp "$scratch/essay" "$1/$task"
  cp "$scratch/essay" "$1/$kept"
  cp "$scratch/essay" "$1/$header"
  echo '// mine' >>"$1/$gone_edited"
  echo 'a4.single_step solved' >"$1/.lab-progress"
  mkdir -p "$1/submission"
  echo zip >"$1/submission/a4.zip"
  echo answer >"$1/a9_collectives/written_answers_task1.md"
}
untouched_work() { # untouched_work FOLDER: what must never be lost
  cmp "$scratch/essay" "$1/$task" && cmp "$scratch/essay" "$1/$kept" && has_text 'a4.single_step solved' "$1/.lab-progress" &&
    has_text zip "$1/submission/a4.zip" && has_text answer "$1/a9_collectives/written_answers_task1.md" &&
    grep -q '// mine' "$1/$gone_edited" && { cmp "$scratch/essay" "$1/$header" || cmp "$scratch/essay" "$1/.lab-backup/$header"; }
}
term "$scratch/term"
holds "the old version hands out the file that will go" test -f "$scratch/term/$gone"
run "$program" "$scratch/term" --source "$new"
verdict "$code" "an update in the middle of a term"
holds "a student's files are as they were" untouched_work "$scratch/term"
holds "a task that is handed out anew is next to the student's" grep -q 'said better' "$scratch/term/$task.new"
holds "... and named" says "$task: yours stays; the new version has changed it, see $task.new"
holds "a task that is as it was has nothing next to it" absent "$scratch/term/$kept.new"
holds "a provided file that the student edited is new" grep -q '// clearer' "$scratch/term/$header"
holds "... and the student's is in the backup, and named" says "$header: you had edited it; your version is in .lab-backup/$header"
holds "a file that the new version has no longer is gone" absent "$scratch/term/$gone"
holds "... but not if it was edited" says "$gone_edited: stays, as you had edited it"
touch "$scratch/stamp"
run "$program" "$scratch/term" --source "$new"
verdict "$([[ $code == 0 && ! $(find "$scratch/term" -newer "$scratch/stamp") && $(wc -l <"$scratch/out") == 1 ]]; echo $?)" "the same update again: nothing to do, nothing to say"

# --- a disk that fills up: files beyond 4 KiB cannot be written ---
term "$scratch/full"
run bash -c 'trap "" XFSZ; ulimit -f 4; exec "$@"' full "$program" "$scratch/full" --source "$new"
refuses "a full disk ends the update with a message" 2 "cannot write '.*': File too large"
holds "... and all of the student's work is whole" untouched_work "$scratch/full"
run "$program" "$scratch/full" --source "$new"
holds "... and the update can be repeated" untouched_work "$scratch/full"
holds "... and ends as if it had never been cut short" diff -r "$scratch/full" "$scratch/term"
run bash -c 'trap "" XFSZ; ulimit -f 4; exec "$@"' full "$program" "$scratch/begun" --source "$source_tree"
verdict "$([[ $code == 2 ]]; echo $?)" "a full disk ends the making of a starter"
run "$program" "$scratch/begun" --source "$source_tree"
holds "... which can be repeated" diff -r "$scratch/begun" "$scratch/twin"

# --- refused ---
mkdir "$scratch/thesis" && echo years >"$scratch/thesis/work.txt"
run "$program" "$scratch/thesis" --source "$source_tree"
refuses "a folder with other things" 2 "expected a new or empty folder, or a starter to update"
holds "... stays as it is" test "$(ls -A "$scratch/thesis")" = work.txt
run "$program" "$old/common/starter" --source "$old"
refuses "a folder inside what starters are made of" 2 "is in the source tree's common"
run "$program" "$scratch/x" --labs a9,a4_data_tensors --source "$source_tree"
refuses "an unknown lab" 2 "unknown lab 'a4_data_tensors'; did you mean 'a4_data_tensor'"
run "$program" "$scratch/x" --source "$starter"
refuses "a starter as the source" 2 "expected the suite's own source tree"
run "$program" "$scratch/essay/x" --source "$source_tree"
refuses "a folder below a file" 2 "expected a folder that can be made"
holds "nothing was made" absent "$scratch/x"
finish
