#!/usr/bin/env bash
# labaudit refuses each workaround that it names, accepts plain code, and wants a look at the rest.
# usage: student_symbols_test.sh COMPILER LABAUDIT LIBRARY...     the libraries that hold the classes it refuses
set -uo pipefail
compiler=$1 audit=$2
libraries=("${@:3}")
here=$(dirname -- "$(readlink -f -- "$0")")
rules=$here/../audit
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# object NAME: from standard input
object() { "$compiler" -std=c++17 -O1 -x c++ -c -o "$scratch/$1.o" - || exit 2; }

# expect WHAT CODE LINE FILE...: the audit of the files ends with CODE, and a line begins with LINE; none: it prints nothing.
expect() {
  local code=0
  "$audit" "$rules" "${@:4}" >"$scratch/out" 2>&1 || code=$?
  [[ $code == "$2" ]] && { [[ ! $3 && ! -s $scratch/out ]] || grep -qF -- "${3:-nothing}" "$scratch/out"; } && return
  echo "$1: expected exit code $2 and '$3'; got $code and"
  cat "$scratch/out"
  failures=$((failures + 1))
}

num_cases=0
while IFS= read -r -d $'\f' code; do
  line=${code%%$'\n'*} code=${code#*$'\n'}
  [[ $(uname -m) == x86_64 || $code != *'asm volatile'* ]] || continue
  object case <<<"$code"
  case $line in
    nothing) expect "${code%%$'\n'*}" 0 "" "$scratch/case.o" ;;
    *) expect "${code%%$'\n'*}" 1 "case.o: $line" "$scratch/case.o" ;;
  esac
  num_cases=$((num_cases + 1))
done < <(sed -n '/^== /,$p' "$here/audited_code.txt" | awk '/^== / && NR > 1 {printf "\f"} {sub(/^== /, ""); print} END {printf "\f"}')
((num_cases > 50)) || { echo "expected all of audited_code.txt, got $num_cases cases of it"; failures=1; }

# A class that was renamed would be refused under a name that nothing has.
classes=$(sed -nE "s/.*(lab::[a-z]+::)\((Endpoint[^)]*)\)::.*/\1 \2/p" "$rules/forbidden_symbols.txt")
[[ $classes ]] || { echo "forbidden_symbols.txt: the classes of the inside are not found"; failures=$((failures + 1)); }
members=$(nm -C "${libraries[@]}" 2>/dev/null)
for class in $(tr '|' ' ' <<<"${classes#* }"); do
  [[ $members == *"${classes%% *}$class::"* ]] && continue
  echo "no library has a member of ${classes%% *}$class"
  failures=$((failures + 1))
done

object odd <<<'int x;'
printf x >"$scratch/x" && objcopy --add-section $'.rodata.x\n.incbin "x"='"$scratch/x" "$scratch/odd.o"
expect "a section whose name is the assembler's business" 1 'odd.o: forbidden: a section of type PROGBITS: .rodata.x^J.incbin "x"' "$scratch/odd.o"
object good <<<'#include <fstream>
  void f() { std::ofstream("x") << 1; }'
expect "a file that does not open, and says so to nobody" 0 "good.o: noted: std::basic_" "$scratch/good.o"
object calls <<<'namespace mine { int helper(int); } int f() { return mine::helper(1); }'
object helps <<<'namespace mine { int helper(int x) { return x; } }'
expect "a helper that is nowhere" 1 "calls.o: unlisted: mine::helper" "$scratch/calls.o"
expect "a helper in another file" 0 "" "$scratch/calls.o" "$scratch/helps.o"
object both <<<'#include <fcntl.h>
  extern "C" int fork(); int f() { return fork() + open("x", O_RDONLY); }'
expect "what is forbidden" 1 "both.o: forbidden: fork; use instead: the ranks that the lab starts" "$scratch/both.o"
expect "... and what is unlisted is named, too" 1 "both.o: unlisted: open" "$scratch/both.o"
expect "... and does not make another file's name forbidden" 1 "calls.o: unlisted: mine::helper" "$scratch/both.o" "$scratch/calls.o"
object named <<<'extern "C" int forged() asm("x: U getpid"); int f() { return forged(); }'
expect "a name that looks like two" 1 "named.o: unlisted: " "$scratch/named.o"
ar rcs "$scratch/both.a" "$scratch/good.o" "$scratch/both.o"
expect "the offender among the members of an archive" 1 "both.a:both.o: forbidden: fork" "$scratch/both.a"
expect "a file that is not there" 2 "cannot be read" "$scratch/none.o"
echo text >"$scratch/text.o"
expect "a file that is no object" 2 "these files cannot be read" "$scratch/good.o" "$scratch/text.o"
cp -r "$rules" "$scratch/rules"
echo '[loading' >>"$scratch/rules/allowed_symbols.txt"
rules=$scratch/rules expect "rules that are no expressions" 2 "expected an extended regular expression" "$scratch/good.o"
expect "no file" 2 "expected the folder of the rules"

echo "$failures failures"
[[ $failures == 0 ]]
