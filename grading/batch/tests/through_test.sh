#!/usr/bin/env bash
# Grades a class through commands that start each grading: those that do, in unusual ways, and those that do not. Needs
# LAB_SOURCE_DIR, and the labs' programs in LAB_BIN_DIR.
source "$LAB_SOURCE_DIR/grading/batch/tests/small_class.sh"
mkdir "$scratch/prefixes" "$scratch/tmp"
PATH=$scratch/prefixes:$PATH
export TMPDIR=$scratch/tmp scratch
grade_all() { run "$bin/labgrade" grade-all "$class" --out "$out" --seed 5 "${how[@]}" "$@"; }

# prefix NAME: a program from stdin, in PATH. Its arguments are the command that it is to start, the last of which is the
# order's file; FILE.result names the node once the command is at work.
prefix() {
  { echo '#!/usr/bin/env bash'; cat; } >"$scratch/prefixes/$1"
  chmod +x "$scratch/prefixes/$1"
}
prefix elsewhere <<'END'
echo "Welcome to node 1"
echo "$TMPDIR $WORDS" >"$scratch/told"
cd / && exec env -i PATH="$PATH" TMPDIR="$TMPDIR" SLURM_PROCID=1 SLURM_NTASKS=4 SLURM_JOB_ID=7 PMI_RANK=1 PMI_SIZE=4 \
  OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 RANK=1 WORLD_SIZE=4 LAB_TOLD=1 "$@"
END
prefix twice <<'END'
"$@" &
"$@"
wait "$!"
exit 1
END
prefix loses_first <<'END'
mkdir "$scratch/lost" 2>/dev/null || exec "$@"
loses "$@"
END
prefix loses <<'END'
"$@" &
until grep -q '"node":"[^"]' "${*: -1}.result"; do sleep 0.05; done
kill -KILL "$!"
wait
END
prefix dies_first <<'END'
mkdir "$scratch/died" 2>/dev/null || exec "$@"
setsid "$@" >/dev/null 2>&1 &
until grep -q '"node":"[^"]' "${*: -1}.result"; do sleep 0.05; done
kill -KILL "$$"
END
prefix does_not_wait <<'END'
setsid "$@" >/dev/null 2>&1 &
END
prefix waits <<'END'
trap 'touch "$scratch/asked"; exit' TERM
sleep 1000 & wait
END
prefix prints <<'END'
while head -c 4000000 /dev/zero | tr '\0' y; do sleep 0.1; done
END
echo '#!/no/such/interpreter' >"$scratch/prefixes/not_runnable"
chmod +x "$scratch/prefixes/not_runnable"

# What tells what its ranks were started with, what is right, and what is called by a name that is not UTF-8.
hand_in turing.tar.gz 's/BEGIN SOLUTION a4.single_step/&\n  std::string all; for (char** one = environ; *one; ++one) all += *one; throw std::runtime_error("told " + all);/; 1i #include <unistd.h>\n#include <stdexcept>\n#include <string>'
hand_in lovelace.tar.gz
hand_in $'h\xf6pper.tar.gz' '$a // another'
grade_all --accept environ
show_results "$out" >"$scratch/direct"
cp "$out/marks.csv" "$scratch/direct.csv"
verdict "$(grep -q 'told .*PATH=' "$out"/turing/*/report.md; echo $?)" "a hand-in tells its environment"

# same WHAT PREFIX: another class's results are those from above, to the byte, whatever starts the graders.
same() {
  rm -rf "$scratch/through"
  out=$scratch/through grade_all --accept environ --through "$2"
  show_results "$scratch/through" >"$scratch/shown"
  verdict "$([[ $code == 0 ]] && cmp -s "$scratch/direct" "$scratch/shown" && cmp -s "$scratch/direct.csv" "$scratch/through/marks.csv"; echo $?)" "$1: the same results, exit code $code"
  verdict "$([[ ! -e $scratch/through/.run && ! $(ls -A "$TMPDIR") ]]; echo $?)" "... and nothing is left"
}
same "elsewhere" "env 'WORDS=two  words' elsewhere"
verdict "$(grep -qx "$TMPDIR two  words" "$scratch/told"; echo $?)" "... with the TMPDIR that was set, and words as they were quoted"
says "... what it writes to stdout is noted" "^  'env .* elsewhere' writes to stdout, which is left out: Welcome to node 1$"
verdict "$([[ $(grep -c Welcome "$scratch/out") == 1 ]]; echo $?)" "... once"
verdict "$(! grep -qE 'SLURM|PMI|LAB_TOLD' "$scratch/through"/turing/*/report.md; echo $?)" "... and no rank is told a launcher's variables"
same "two processes for each" twice
same "one grader is killed" loses_first
says "... which is said" '^  (lovelace|turing|h.*): lost on .*: expected the grading .* first, got exit code 0.*; it is graded again after the others$'
same "what waits for a grader is killed" dies_first
says "... which is said, too" 'lost on .* got exit code 137.*; it is graded again after the others$'

# Until something is graded, the rest is as before.
hand_in curie.tar.gz '$a // late'
cp -r "$out" "$scratch/silent"
out=$scratch/silent
env --default-signal=INT "$bin/labgrade" grade-all "$class" --out "$out" "${how[@]}" --through waits >"$scratch/waiting" 2>&1 &
waiting=$!
env --default-signal=INT "$bin/labgrade" grade-all "$class" --out "$scratch/loud" "${how[@]}" --jobs 1 --through prints >"$scratch/printing" 2>&1 &
printing=$!
out=$scratch/results

# not_judged WHAT PREFIX PATTERN: this command does not get the hand-in graded, and the run says why.
not_judged() {
  grade_all --through "$2"
  verdict "$([[ $code == 8 ]]; echo $?)" "$1: exit code $code, expected 8"
  says "... and says why" "^\[1/1, about 0 s left\] curie: curie\.tar\.gz: not judged: $3"
  verdict "$(grep -q 'curie\.tar\.gz: not judged: ' "$out/marks.csv"; echo $?)" "... in marks.csv, too"
}
not_judged "it fails" false "--through 'false': expected .*, got exit code 1; hint: try false hostname$"
not_judged "it starts nothing" true "--through 'true': expected .*, got exit code 0;"
not_judged "it only prints" echo "--through 'echo': expected .*, got exit code 0: [^ ]*/labgrade grade-one .*;"
not_judged "it cannot be run" not_runnable "--through .*: cannot run not_runnable: No such file or directory;"
not_judged "it ends before what it starts" does_not_wait "--through .*: expected"
not_judged "it loses each grader" loses "lost twice, on [^ ]* and [^ ]*: .*; hint: the same command grades it again$"
# refused WHAT PREFIX: before anything is graded.
refused() { grade_all --through "$2"; refuses "$1" 2 "--through: expected a program in PATH, .*, got \"$2\"; hint: 'srun"; }
refused "it is no command" "no_such_command -n1"
refused "... or cannot be run" "$scratch/one_size.toml"
refused "... or is nothing" " "
refused "... or half a word" "nice 'x"
for _ in $(seq 600); do
  grep -q 'has begun no grading' "$scratch/waiting" && grep -q 'has begun no grading' "$scratch/printing" && break
  sleep 0.1
done
verdict "$(grep -q "^  --through 'waits' has begun no grading for 30 s; hint: " "$scratch/waiting"; echo $?)" "it waits for ever: the run says so"
verdict "$(grep -q "^  --through 'prints' has begun no grading for 30 s; hint: " "$scratch/printing"; echo $?)" "... and of one that prints for ever"
memory=$(awk '/VmHWM/ {print $2}' "/proc/$printing/status")
verdict "$([[ $memory -lt 512000 ]]; echo $?)" "... whose output is not kept: $memory KiB"
kill -INT "$waiting" "$printing"
wait "$waiting"; code=$?
verdict "$([[ $code == 130 && -e $scratch/asked ]]; echo $?)" "Ctrl-C: it is asked to end, exit code $code"
wait "$printing"; code=$?
verdict "$([[ $code == 130 ]]; echo $?)" "... and so is the other, exit code $code"

grade_all --through 'elsewhere'
says "what was not judged stays to be graded" '^4 hand-ins: 1 to grade, 3 as before'
verdict "$([[ $code == 0 && -e $out/curie/a4_data_tensor/report.md ]]; echo $?)" "... and is, exit code $code"
for _ in $(seq 100); do pgrep -f "grade-one.*$scratch" >/dev/null || break; sleep 0.1; done
verdict "$(! pgrep -f "grade-one.*$scratch" >/dev/null; echo $?)" "no grader is left"
finish
