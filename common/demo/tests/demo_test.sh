#!/usr/bin/env bash
# What ./lab demo shows: a deadlock that ends by itself, a loss that falls, a speed-up that is the same on every machine.
source "$(dirname -- "$(readlink -f -- "$0")")/../../testing/program_checks.sh"
source_tree=${LAB_SOURCE_DIR:?where the sources are}
program=$bin/lab_demo
has() { grep -qE -- "$1" "$scratch/out"; echo $?; }

run "$program" both-send
line=$(grep -n 'p2p.send' "$source_tree/common/demo/both_send.cpp" | cut -d: -f1)
wait_of() { echo "rank $1 waits to send 4 KiB to rank $2 \(both_send.cpp:$line\)"; }
refuses "two ranks that both send first" 6 "error: deadlock: $(wait_of 0 1), $(wait_of 1 0)$"

run "$program" learn
verdict "$([[ $code == 0 ]] && has '^the losses of 20 steps are equal, to the last bit$')" "a pipeline learns what one process learns"
verdict "$(awk '$1 ~ /^[0-9]+$/ && NF == 3 { if (n++ && $3 >= last) bad = 1; last = $3 } !n { next } n == 1 { first = last }
  END { exit !(n >= 5 && !bad && last < first / 4) }' "$scratch/out"; echo $?)" "... and its loss falls to less than a quarter"
verdict "$(has '^  one by one +speed-up 0\.[89][0-9] of 4 ')" "one micro-batch at a time is no faster than one process"
verdict "$(has '^  1f1b +speed-up 2\.[0-9]+ of 4 ')" "1F1B is"
speed_up() { sed -nE "s/^  $1 +speed-up ([0-9.]+) of 4 .*/\1/p" "$scratch/out"; }
verdict "$(tr '\n' ' ' <"$source_tree/README.md" | grep -qF "its speed-up is $(speed_up 1f1b) of 4, and that of the same model one by one $(speed_up 'one by one')."; echo $?)" "... by what the README says"
cp "$scratch/out" "$scratch/once"
run "$program" learn
verdict "$(cmp -s "$scratch/out" "$scratch/once"; echo $?)" "... and by the same figures each time"

if command -v gnuplot >/dev/null && command -v rsvg-convert >/dev/null; then
  run "$program" learn --steps 1 --out "$scratch/pictures"
  verdict "$([[ $code == 0 && $(cd "$scratch/pictures" && echo *.png) == "learning_curve.png step_1f1b.png step_one_by_one.png" ]]; echo $?)" "three pictures"
else skip "gnuplot or rsvg-convert is not installed"; fi
run "$program" learn --steps 0; refuses "no step" 2 "--steps: expected an integer from 1"
run "$program" learn --out "$program/x"; refuses "a folder below a file" 2 "--out"
run "$program" lern; refuses "a misspelt command" 2 "unknown command 'lern'; did you mean 'learn'\?"
finish
