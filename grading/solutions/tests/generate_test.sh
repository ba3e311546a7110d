#!/usr/bin/env bash
# generate.py makes what each rule promises of a small file, and nothing where nothing may be mutated.
source "$(dirname -- "$(readlink -f -- "$0")")/../../../common/testing/program_checks.sh"
here=$(dirname -- "$(readlink -f -- "$0")")
generate=$here/../generate.py
export PYTHONPYCACHEPREFIX=$scratch/pycache
"$here/with_libclang.sh" true || exit 77

root=$scratch/root file=$scratch/root/a0_lab/student/f.cpp
mkdir -p "$root/a0_lab/student"
cp "$here/mutated.cpp.txt" "$file"
printf '[[task]]\nid = "t.one"\n' > "$root/a0_lab/rubric.toml"
compiled_by() { printf '[{"directory": "/", "file": "%s", "command": "c++ %s -o x -c %s"}]' "$1" "$2" "$1" > "$root/compile_commands.json"; }
compiled_by "$file" -std=c++17

run "$generate" "$root" "$root" a0_lab
verdict $code "a small file is mutated"
# Each row as "line rule: what", if what it replaces is there.
cat > "$scratch/show.py" <<'END'
import sys, tomllib
text = open(sys.argv[2], "rb").read()
for row in tomllib.load(open(sys.argv[1], "rb"))["solution"]:
    replaced = row["replace"].encode()
    assert text[row["at"]:row["at"] + len(replaced)] == replaced and row["with"] != row["replace"], row
    assert (row["file"], row["task"], row["expected"]) == ("a0_lab/student/f.cpp", "t.one", "wrong"), row
    print(text.count(b"\n", 0, row["at"]) + 1, f"{row['rule']}: {row['what']}")
END
mv "$scratch/out" "$scratch/rows"
run /usr/bin/python3 "$scratch/show.py" "$scratch/rows" "$file"
verdict $code "each row replaces what is at its place"
mv "$scratch/out" "$scratch/shown"
while IFS= read -r expected; do
  grep -qFx -- "$expected" "$scratch/shown"
  verdict $? "$expected"
done <<'END'
25 rank: p2p.rank() -> 0
25 rank: p2p.rank() -> ((p2p.rank() + 1) % p2p.size())
32 rank: place -> 0
23 size: p2p.size() -> 4
46 size: size -> 4
27 neighbour: right -> left
27 index: right -> (right + 1)
31 variable: y -> x
28 dim: 1 -> 2
28 dim: -3 -> -4
31 dim: -1 -> 0
25 number: 0 -> -1
25 operator: && -> ||
25 operator: ! -> nothing
36 operator: += -> -=
25 operand: && !false -> nothing
28 operand: + x -> nothing
25 condition: p2p.rank() == 0 && !false -> !(p2p.rank() == 0 && !false)
41 condition: before > 1 -> true
28 swapped_arguments: 1, -3 -> -3, 1
27 dropped_argument: , right -> nothing
27 view_for_copy: .clone() -> nothing
31 view_for_copy: add_ -> add
33 copy_for_move: std::move(y) -> y
31 sum_for_mean: sum -> mean
30 scale: p2p.all_reduce(y) -> p2p.all_reduce(y).div_(p2p.size())
41 other_call: max -> min
28 dropped_call: narrow(x.t(), 1, -3, left) -> (x.t())
28 dropped_call: .t() -> nothing
29 dropped_statement: without: one.wait();
29 doubled_statement: twice: for (Request& one : list) one.wait();
30 swapped_statements: before it: y.add_(y.sum(-1));
27 late_message: only after line 28: list.push_back(p2p.isend(x.clone(), right));
27 early_wait: waits at once: p2p.isend(x.clone(), right)
END
# Of its 23 rules each has a place.
[[ $(cut -d ' ' -f 2 "$scratch/shown" | sort -u | wc -l) == 23 ]]
verdict $? "each rule is tried"
# What no markers are around, or those of a task that the rubric does not have; a check; a function's last statement.
! grep -E '^(19|21|24|51) |left \+ 1 ->|without: return std|twice: throw' "$scratch/shown"
verdict $? "nothing is mutated where it would show nothing"

fails() { # fails CODE PATTERN WHAT: the last run ended with CODE and said PATTERN on one line of stderr.
  verdict "$([[ $code == "$1" && ! -s $scratch/out && $(wc -l < "$scratch/err") == 1 ]] && grep -qE -- "$2" "$scratch/err"; echo $?)" "$3"
}
run "$generate" "$root" "$root"
fails 1 '^usage: ' "an argument that is missing"
run "$generate" "$root" "$root" a1_lab
fails 1 'a1_lab/rubric.toml' "a lab that does not exist"
compiled_by "$root/a0_lab/other.cpp" -std=c++17
run "$generate" "$root" "$root" a0_lab
fails 1 'compiles no file' "a build folder without the lab"
compiled_by "$file" -std=c++17
echo 'int broken( {' >> "$file"
run "$generate" "$root" "$root" a0_lab
fails 1 'student/f.cpp: .*f.cpp:[0-9]+:[0-9]+: error' "a file that is not C++"
echo '[' > "$root/compile_commands.json"
run "$generate" "$root" "$root" a0_lab
fails 1 'generate.py: ' "a build folder with a broken file"
finish
