#!/usr/bin/env bash
# What ./lab shows of a build where there is no terminal: messages, without compilers' commands, and every ten seconds how
# many steps are left.
set -uo pipefail
here=$(cd -- "$(dirname -- "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck disable=SC1090
source <(sed -n '/^say()/p;/^show_build()/,/^}/p' "$here/../../../lab")
num_failed=0
expect() { # expect WHAT FILE TEXT
  if [[ $(cat -- "$2") == "$3" ]]; then echo "ok      $1"; else
    echo "FAILED  $1:"
    diff <(echo "$3") "$2" | sed 's/^/          /'
    num_failed=$((num_failed + 1))
  fi
}

messages="FAILED: a4/student/x.cpp.o
x.cpp:3:1: error: expected ';'
    3 |   return

ninja: build stopped: subcommand failed."
build_messages=$scratch/messages
printf '%s\n' '-- Configuring done' '[1/3] Building CXX object a' 'FAILED: a4/student/x.cpp.o' '/usr/bin/clang++ -DA -c x.cpp' \
  "x.cpp:3:1: error: expected ';'" '    3 |   return' '' 'ninja: build stopped: subcommand failed.' |
  show_build >"$scratch/out"
expect "the compiler's message is shown, its command is not" "$scratch/out" "$messages"
expect "... and is kept" "$scratch/messages" "$messages"
printf 'ninja: no work to do.\n' | show_build >"$scratch/out"
expect "nothing to do, nothing to say" "$scratch/out" ""

# A build that goes on until how many steps are left was said twice.
unset build_messages
mkfifo "$scratch/ninja"
show_build <"$scratch/ninja" >"$scratch/out" &
exec {ninja}>"$scratch/ninja"
until [[ -s $scratch/out ]]; do sleep 0.1; done
printf '[1/40] Building CXX object a\n[2/40] Building CXX object b\nx.cpp:1: war' >&"$ninja"
until grep -q steps "$scratch/out"; do sleep 0.1; done
printf 'ning: y\n' >&"$ninja"
exec {ninja}>&-
wait
sed -i 's/[0-9]* s$/N s/' "$scratch/out"
expect "how many steps are left, while a step takes long" "$scratch/out" "lab: building, after N s
lab: building: 2 of 40 steps done, 38 left, after N s
x.cpp:1: warning: y"
[[ $num_failed == 0 ]]
