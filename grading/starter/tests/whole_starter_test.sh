#!/usr/bin/env bash
# A whole starter, built as a student builds it: its two commands before anything is solved, with one task solved, with one
# wrong, and with a file that does not compile. Takes minutes: everything is compiled.
source "$(dirname -- "$(readlink -f -- "$0")")/../../../common/testing/program_checks.sh"
source_tree=${LAB_SOURCE_DIR:?where the sources are}
starter=$scratch/starter

# lab COMMAND...: leaves $scratch/out and $code.
lab() {
  code=0
  "$starter/lab" --no-install "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
}
says() { verdict "$([[ $code == "$1" ]] && grep -qE -- "$2" "$scratch/out"; echo $?)" "$3: exit code $1, $2"; }

run "$bin/labstarter" "$starter" --labs a4 --source "$source_tree"
verdict "$code" "a starter of one lab"
lab demo
says 0 '^next: a4.single_step' "lab demo of a fresh starter"
says 0 'deadlock: rank 0 waits to send 4 KiB to rank 1 \(both_send.cpp:[0-9]+\), rank 1 waits' "... which shows a caught deadlock"
says 0 '^ +20 +0\.0[0-9]+ +0\.0[0-9]+$' "... a loss that has fallen"
says 0 '^  1f1b +speed-up 2\.[0-9]+ of 4' "... a speed-up in model time"
if command -v gnuplot >/dev/null; then
  verdict "$(ls "$starter"/out/{learning_curve,step_1f1b,step_one_by_one}.png >/dev/null; echo $?)" "... and pictures of them"
fi
verdict "$(! grep -q 'warning:' "$scratch/out" "$scratch/err"; echo $?)" "... is built without a warning"
lab test
says 3 '0 of 8 tasks solved, 8 not begun, 0 wrong' "lab test of a fresh starter"

task=$starter/a4_data_tensor/student/single_step.cpp
grep -vE '^ *// (BEGIN|END) SOLUTION|^ *// STUB' "$source_tree/a4_data_tensor/student/single_step.cpp" >"$task"
lab test
says 3 '1 of 8 tasks solved, 7 not begun, 0 wrong' "with a task solved"
lab demo
says 0 '^next: a4.accumulation' "lab demo then"
sed 's/model.W.detach()/model.W.detach() * 2/' "$task" >"$scratch/wrong" && cp "$scratch/wrong" "$task"
lab test
says 1 '0 of 8 tasks solved, 7 not begun, 1 wrong' "with a task that is wrong"
echo 'int broken(' >>"$task"
lab test
says 1 'a4_data_tensor not checked' "with a file that does not compile"
finish
