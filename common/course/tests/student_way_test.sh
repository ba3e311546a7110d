#!/usr/bin/env bash
# The student's way in a real terminal: next, check, hint, watch, reset and submit of ./lab, in its own small tree.
# Needs LAB_SOURCE_DIR, LAB_BIN_DIR and tmux.
set -uo pipefail
source_dir=${LAB_SOURCE_DIR:?where the sources are}
export LAB_BIN_DIR=${LAB_BIN_DIR:?where the binaries are}
command -v tmux >/dev/null || { echo "skipped: tmux is not installed"; exit 77; }
scratch=$(mktemp -d)
terminal=(tmux -L "lab_student_way_$$" -f /dev/null)
trap '"${terminal[@]}" kill-server 2>/dev/null; rm -rf "$scratch"' EXIT
num_failed=0

verdict() { # verdict 0|1 WHAT
  if [[ $1 == 0 ]]; then echo "ok      $2"; else
    num_failed=$((num_failed + 1))
    echo "FAILED  $2; the terminal says:"
    screen | sed 's/^/          /'
  fi
}

# A starter as a student unpacks it: the script, and one lab.
tree=$scratch/tree
cp -r "$source_dir/common/course/tests/student_way" "$tree"
mkdir -p "$tree/common/course" "$tree/common/launch" "$tree/.lab-pristine/a0_pipes"
cp -r "$source_dir"/common/course/{*.sh,audit} "$tree/common/course"
cp -r "$source_dir/common/doctor" "$tree/common"
cp "$source_dir/common/launch/run.sh" "$tree/common/launch"
cp "$source_dir/lab" "$source_dir/CMakePresets.json" "$tree"
sed 's/a4_data_tensor/a0_pipes/g' "$source_dir/a4_data_tensor/run.sh" >"$tree/a0_pipes/run.sh"
chmod +x "$tree/a0_pipes/run.sh"
cp -r "$tree/a0_pipes/student" "$tree/.lab-pristine/a0_pipes"

screen() { "${terminal[@]}" capture-pane -pJ -S - -t way | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'; }

# shows PATTERN: true once the screen has a matching line; waits a minute at most.
shows() {
  local _
  for _ in $(seq 600); do
    grep -qE -- "$1" <<<"$(screen)" && return
    sleep 0.1
  done
  return 1
}

# types COMMAND: on an empty screen; prints "ended" and its exit code.
types() {
  "${terminal[@]}" send-keys -t way C-l
  "${terminal[@]}" clear-history -t way
  "${terminal[@]}" send-keys -t way -l "clear; $1; echo ended \$?"
  "${terminal[@]}" send-keys -t way Enter
}

# expect WHAT COMMAND CODE PATTERN...: the command ends with the code, and the screen shows every pattern.
expect() {
  local what=$1 pattern
  types "$2"
  shows "^ended $3\$" || { verdict 1 "$what: expected exit code $3"; return; }
  for pattern in "${@:4}"; do
    shows "$pattern" || { verdict 1 "$what: expected '$pattern'"; return; }
  done
  verdict 0 "$what"
}

# lock: as another ./lab does while it builds; unlock: as when that ends.
lock() {
  exec {build_lock}<>"$tree/build/release.lock"
  flock "$build_lock"
  echo "process 4711 (lab test)" >"$tree/build/release.lock"
}
unlock() { exec {build_lock}>&-; }

# sees WHAT PATTERN: while a command keeps running.
sees() { shows "$2"; verdict $? "$1"; }

pipe=$tree/a0_pipes/student/pipe.cpp
# save BODY: the student's function, written as an editor does, by renaming.
save() {
  printf '#include "a0_pipes/pipes.h"\n\nint pipe(int water) {\n  %s\n}\n' "$1" >"$pipe.tmp"
  mv "$pipe.tmp" "$pipe"
}

save_valve() {
  printf '#include "a0_pipes/pipes.h"\n\nint valve(int water, bool open) { return open ? water : 0; }\n' >"$tree/a0_pipes/student/valve.cpp"
}

"${terminal[@]}" new-session -d -s way -x 160 -y 50 -c "$tree" "PS1='$ ' bash --norc --noprofile -i" || exit 1
lab="./lab --no-install"

expect "next names the first task" "$lab next" 0 \
  '^next: a0.pipe: A pipe \(4 marks\)' 'a0_pipes/student/pipe.cpp:4 +its TODO' 'README.md:3 +"A pipe"' 'lab check a0.pipe'
expect "check of a TODO" "$lab check pipe" 3 '^a0.pipe: not implemented'
expect "a first hint" "$lab hint a0.pipe" 0 'hint 1 of 3: What goes in\?'
expect "a clearer hint" "$lab hint a0.pipe" 0 'hint 2 of 3: What goes in comes out'
for command in next "hint a0.pipe" status; do
  lock
  types "$lab $command"
  sees "$command during a build waits for it" '^lab: waiting until process 4711 .lab test. has built release$'
  unlock
  sees "... and goes on after it" '^ended 0$'
done
expect "a program starts without the build's lock" "$lab run a0" 0 '^a run of pipes$'
save 'return water + 1;'
expect "check of a wrong solution" "$lab check a0.pipe" 1 '^a0.pipe: wrong'
expect "status remembers" "$lab status" 0 'wrong +20[0-9-]+ a0.pipe' '- +- +a0.valve'
save 'return water'
expect "a compiler's error is shown" "$lab check a0.pipe" 1 'error: expected ' 'was not built'
expect "a CI job gets that as an error of the lab" "$lab check pipe --junit x.xml --annotations" 1 \
  '^::error title=a0_pipes::it was not built: '
verdict "$(grep -q '<error message="it was not built: ' "$tree/x.xml"; echo $?)" "... in its report, too"
save 'return "<b>" + water'
expect "a page is made where nothing is built" "$lab check pipe --html x.html" 1 'was not built'
verdict "$(grep -q '<p class="break">a0_pipes/student/pipe.cpp:4:[0-9]*: error: .*</p>' "$tree/x.html" &&
  grep -q '^ *4 |   return &quot;&lt;b&gt;&quot; + water' "$tree/x.html"; echo $?)" \
  "... which has the compiler's message with its source line"
save 'return water + 1;'
expect "a CI job gets results of all tasks in one file, and annotations" \
  "GITHUB_WORKSPACE=$scratch $lab check --annotations --junit=x.xml --json x.json" 1 \
  '^::stop-commands::[0-9a-f]{32}$' '^::[0-9a-f]{32}::$' \
  '^::error file=tree/a0_pipes/student/pipe.cpp,title=a0.pipe%3A One::too wet$' \
  '^::error file=tree/a0_pipes/student/valve.cpp,line=[0-9]+,title=a0.valve::not implemented$'
verdict "$(grep -q '<testsuites tests="2" failures="2" errors="0" skipped="0">' "$tree/x.xml" &&
  grep -q '"task": "a0.valve"' "$tree/x.json"; echo $?)" "... JUnit XML and JSON"
expect "a file that cannot be written is refused before anything is built" "$lab check --junit none/x.xml" 2 \
  '^lab: error: --junit: cannot write none/x.xml'
expect "an option without its file" "$lab check --json --shake 3" 2 '^lab: error: --json: expected '
save 'int forks() __asm__("fork"); return forks() * water;'
expect "what the grading would refuse is refused here" "$lab check a0.pipe" 1 \
  '^a0_pipes/student/pipe.cpp:4: fork: .*; use instead: the ranks that the lab starts' 'the grading would refuse' \
  '^lab: not checked, since nothing in it would count: a0_pipes/student/pipe.cpp'
expect "... and only the other files' tasks are checked" "$lab check a0 2>&1 | grep -oE '^a0.[a-z]+: ' | sort -u" 0 \
  '^a0.valve: '
verdict "$(grep -q '^a0.pipe: ' <<<"$(screen)"; [[ $? == 1 ]]; echo $?)" "... and not its own"
save 'int id() __asm__("getpid"); return id() == 0 ? 0 : water;'
expect "what nobody has listed is a note" "$lab check a0.pipe" 0 '^a0_pipes/student/pipe.cpp:4: note: getpid is not on the list'
save 'return water + 1;'
expect "... and that is that" "$lab check a0.pipe" 1 '^a0.pipe: wrong'
expect "an unknown task" "$lab check a0.pip" 2 "did you mean 'a0.pipe'"

types "$lab watch a0 --timeout 8"
sees "watch waits" '^lab: watching a0'
save 'return 2 * water;'
sees "watch: a saved file is checked" '^lab: not yet \(exit code 1\)'
save 'for (volatile int i = 0;; i = i + 1) {}'
sees "watch: a loop without end is stopped" '^lab: stopped after 8 s'
save 'return water;'
sees "watch: and goes on" '^lab: right'
"${terminal[@]}" send-keys -t way C-c
sees "watch: Ctrl-C ends it" 'ended 130$'

expect "next goes on" "$lab next a0" 0 '^a0_pipes: 1 of 2 tasks solved' '^next: a0.valve'
types "$lab submit a0"
sees "submit asks whose the hand-in is" '^your name, for the hand-in: '
"${terminal[@]}" send-keys -t way -l "Ada Lovelace"
"${terminal[@]}" send-keys -t way Enter
sees "... by name and number" '^your student number or login: '
"${terminal[@]}" send-keys -t way -l "s1234567"
"${terminal[@]}" send-keys -t way Enter
sees "submit packs what is there, and says what is missing and what that costs" \
  'a0_pipes/answers.md is missing, which costs up to [0-9]+ marks; hint: cp'
sees "... also a TODO" 'a0_pipes/student/valve.cpp:5: a0.valve is still a TODO, which costs up to 4 marks$'
sees "... and that it is incomplete" 'the hand-in is INCOMPLETE: 3 files, submission/a0_pipes.zip'
sees "... with an exit code" '^ended 1$'
verdict "$([[ -s $tree/submission/a0_pipes.zip ]] && grep -q 'id = "s1234567"' "$tree/.lab-identity"; echo $?)" \
  "... and writes it, and remembers whose it is"
echo "Forty-two." >"$tree/a0_pipes/answers.md"
expect "a TODO alone leaves it incomplete" "$lab submit a0" 1 'the hand-in is INCOMPLETE: 4 files'
save_valve
expect "submit packs, and asks no more" "$lab submit a0" 0 '^handing in as Ada Lovelace .s1234567.' \
  'the hand-in is complete: 4 files, submission/a0_pipes.zip'
verdict "$(grep -q 'a run of pipes' "$tree/a0_pipes/a0_pipes.log"; echo $?)" "... with the log of a run"
rm "$tree/a0_pipes/a0_pipes.log"
(cd / && "$tree/a0_pipes/run.sh")
expect "a run that is started elsewhere leaves its log where submit looks" "$lab submit a0" 0 'the hand-in is complete: 4 files'
verdict "$(! grep -q 'running a0_pipes' <<<"$(screen)"; echo $?)" "... which starts none"
rm "$tree/.lab-identity"
expect "submit does not ask where there is no terminal" "$lab submit a0 </dev/null" 0 'does not say whose it is; hint: lab submit --name'
expect "... where options say it" "$lab submit a0 --name Ada --id=s1 </dev/null" 0 '^handing in as Ada .s1.'
expect "an option that submit does not know" "$lab submit a0 --nme Ada" 2 "unknown option '--nme'; did you mean '--name'"
expect "check explains itself, once" "$lab check -h | grep -c '^Usage: lab check '" 0 '^1$'
expect "reset puts the TODO back" "$lab reset a0.pipe" 0 'its TODO is back' 'your version: .lab-backup/a0_pipes/student/pipe.cpp'
verdict "$(cmp -s "$pipe" "$tree/.lab-pristine/a0_pipes/student/pipe.cpp" && grep -q 'return water;' "$tree/.lab-backup/a0_pipes/student/pipe.cpp"; echo $?)" \
  "... as it was handed out, and keeps the student's version"
expect "next says what to check again" "$lab next" 0 'check again: ./lab check a0.pipe'

# The second of a starter's two commands, with one lab solved, one half done, one untouched.
for name in b0 c0; do
  cp -r "$source_dir/common/course/tests/student_way/a0_pipes" "$tree/${name}_pipes"
  find "$tree/${name}_pipes" -type f -exec sed -i "s/a0/$name/g" {} +
done
save 'return water;'
sed 's/a0/b0/' "$pipe" >"$tree/b0_pipes/student/pipe.cpp"
# tells WHAT CODE TEXT: lab test, without a terminal
tells() {
  local code=0
  "$tree/lab" --no-install test >"$scratch/test" 2>"$scratch/test.err" </dev/null || code=$?
  diff <(echo "$3") "$scratch/test" || code="$code, but another text"
  verdict "$([[ $code == "$2" ]]; echo $?)" "$1: exit code $code"
}
tells "lab test of one lab solved, one half done, one untouched" 3 "lab: checking a0_pipes
a0.pipe: 1 of 1 checks right
a0.valve: 1 of 1 checks right
lab: checking b0_pipes
b0.pipe: 1 of 1 checks right
lab: checking c0_pipes
a0_pipes: 2 of 2 tasks solved
b0_pipes: 1 of 2 tasks solved, 1 still to do
c0_pipes: 0 of 2 tasks solved, 2 still to do
3 of 6 tasks solved, 3 still to do"
sed 's/a0/b0/; s/open ? water : 0/water/' "$tree/a0_pipes/student/valve.cpp" >"$tree/b0_pipes/student/valve.cpp"
echo 'int broken(' >>"$tree/c0_pipes/student/valve.cpp"
tells "... with a wrong task, and a lab that does not compile" 1 "lab: checking a0_pipes
a0.pipe: 1 of 1 checks right
a0.valve: 1 of 1 checks right
lab: checking b0_pipes
b0.pipe: 1 of 1 checks right
b0.valve: wrong
lab: checking c0_pipes
a0_pipes: 2 of 2 tasks solved
b0_pipes: 1 of 2 tasks solved, 1 wrong: b0.valve
c0_pipes: 0 of 2 tasks solved, 2 not checked
  it was not built: see the compiler's errors
3 of 6 tasks solved, 1 wrong, 2 not checked"
verdict "$(grep -q 'c0_pipes/student/valve.cpp:[0-9]*:[0-9]*: error: ' "$scratch/test.err" &&
  ! grep -q -- '-c .*valve.cpp' "$scratch/test.err"; echo $?)" "... the compiler's error is shown, its command is not"

echo "$num_failed failed"
[[ $num_failed == 0 ]]
