#!/usr/bin/env bash
# Drives labgrade as an instructor would: submissions that are right, broken, hostile or incomplete; marks by hand; other
# rubrics. Needs LAB_SOURCE_DIR, and the labs' programs in LAB_BIN_DIR.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
root=$LAB_SOURCE_DIR build=${LAB_BIN_DIR%/bin}
results=$scratch/results

two_sizes=()  # most of what is tested here does not depend on the number of ranks
# grade ARGUMENTS...: of the submission in $scratch/alice
grade() { run "$bin/labgrade" grade "$scratch/alice" --source "$root" --build "$build" --out "$results" --seed 5 "${two_sizes[@]}" "$@"; }

# submit LAB: the reference's student files, as a submission of that lab
submit() {
  rm -rf "$scratch/alice" "$results"
  mkdir -p "$scratch/alice/$1"
  cp -r "$root/$1/student" "$scratch/alice/$1/"
}

# scores WHAT LAB MARKS: the last grading ended with 0 and gave MARKS marks.
scores() {
  local score
  score=$(sed -nE 's/^ *"score": ([0-9.]+),?$/\1/p' "$results/$2/results.json" 2>/dev/null | head -n 1)
  if [[ $code == 0 && ${score%.0} == "$3" ]]; then verdict 0 "$1: $3 marks"; else
    verdict 1 "$1: expected exit code 0 and $3 marks, got $code and '$score'"
  fi
}

# reports WHAT PATTERN: the report of a4 says so; if not, it is shown.
reports() {
  local report=$results/a4_data_tensor/report.md says=0
  grep -qE -- "$2" "$report" || says=1
  verdict $says "$1"
  [[ $says == 0 ]] || sed -n '/^## What was found/,/^## How/s/^/          /p' "$report"
}

a4=$scratch/alice/a4_data_tensor/student

submit a4_data_tensor
grade
scores "the reference earns every mark and every bonus" a4_data_tensor 120
reports "the report says how to replay" 'seed 5'
printf 'lab = "a4_data_tensor"\n[[task]]\nid = "a4.single_step"\nmarks = 25\n' >"$scratch/rubric.toml"
run "$bin/labgrade" marks "$results" --source "$root" --rubric "$scratch/rubric.toml"
scores "another rubric gives other marks, and nothing is run" a4_data_tensor 130

# on_two_sizes LAB: what is graded next is judged on 4 and 3 ranks only.
on_two_sizes() {
  printf 'lab = "%s"\n[judging]\nranks = [4, 3]\ncheap_ranks = []\n' "$1" >"$scratch/two_sizes.toml"
  two_sizes=(--rubric "$scratch/two_sizes.toml")
}
on_two_sizes a4_data_tensor

# One file does not compile, one prints what the lab would and leaves, one is missing; the others keep what they earn.
submit a4_data_tensor
echo '[[nodiscard]] int request(); void drops_it() { request(); }' >>"$a4/row_parallel.cpp"
sed -i 's|.*BEGIN SOLUTION a4.data_parallel.*|std::fputs("[DataParallel][Rank 0] Tensors match: True\\n", stdout); std::exit(0);|; 1i #include <cstdio>\n#include <cstdlib>' "$a4/data_parallel.cpp"
rm "$a4/accumulation.cpp"
echo notes >"$a4/notes.txt"
grade
scores "what compiles and returns is judged all the same" a4_data_tensor 65
reports "the compiler's words are in the report" 'error: ignoring return value'
reports "so is how the program ended" 'exited with code 0'
reports "a missing file is named" 'missing.*accumulation\.cpp'
reports "a further file is named" 'notes\.txt'
cp "$root/a4_data_tensor/student/data_parallel.cpp" "$a4/"
grade --task a4.data_parallel
scores "one task is judged again, the rest stays" a4_data_tensor 85

# A machine on which nothing gets to run, simulated by a wall limit that nothing can meet: no marks, not even 0.
submit a4_data_tensor
grade --wall-limit 0.001
json=$results/a4_data_tensor/results.json
verdict "$([[ $code == 8 ]] && grep -q '"not_judged": 120' "$json" && [[ $(grep -c '"score"' "$json") == 1 ]]; echo $?)" \
  "what the machine keeps from being judged is not judged: exit code 8, and no test has a score"
reports "the report says so first" '^\*\*Some checks were not judged'
grade
scores "the same submission on a machine that works" a4_data_tensor 120

# all_own COMMENT: no file is the reference's.
all_own() { submit a4_data_tensor; for file in "$a4"/*.cpp; do echo "// $1" >>"$file"; done; }

# What nobody has listed: not judged until somebody has looked, and accepts it.
own_comment="my own of $EPOCHREALTIME"
all_own "$own_comment"
printf '#include <unistd.h>\nnamespace lab::a4 { int process() { return getpid(); } }\n' >>"$a4/row_parallel.cpp"
grade
verdict "$([[ $code == 8 ]] && grep -q '"not_judged": 20' "$json" && grep -qE '^ *"score": 100' "$json"; echo $?)" \
  "a file with an unlisted symbol is not judged: exit code 8, the others keep their marks"
verdict "$(($(grep -lF "$own_comment" "$build"/grading/objects/*.key | wc -l) != 3))" "three units were compiled: all files, that file, and the others as one"
reports "the report says that it needs a look, and why" 'not judged: .*row_parallel\.cpp: needs a look: it uses getpid'
verdict "$(grep -qF -- "--accept 'getpid'" "$scratch/out"; echo $?)" "the instructor is told how to accept it"
grade --accept getuid
verdict "$([[ $code == 8 ]]; echo $?)" "... which another symbol does not do"
grade --accept getpid,getuid
scores "what somebody has looked at is judged" a4_data_tensor 120
grade --accept ,
refuses "no name of a symbol" 2 '--accept: expected'

# Where all files are a student's own they are compiled as one, which must not show.
all_own "my own"
sed -i '/include "a4_data_tensor\/parallel_functions.h"/d' "$a4/column_parallel.cpp"
sed -i '1i #include <valarray>' "$a4/accumulation.cpp"
sed -i 's/BEGIN SOLUTION a4.row_parallel/&\n  const std::valarray<int> none;/' "$a4/row_parallel.cpp"
printf '#include <unistd.h>\nnamespace lab::a4 { int process() { return getpid(); } }\n' >>"$a4/data_parallel.cpp"
printf '#include "a4_data_tensor/cases/cases.h"\nnamespace lab::a4 { auto cheat() { return all_cases()[0].expected; } }\n' >>"$a4/single_step.cpp"
grade
reports "among a student's own files, one that is not valid alone is left out, with the compiler's words" \
  "column_parallel\.cpp:[0-9]+:[0-9]+: error: (.broadcast_parallel. was not declared|use of undeclared identifier .broadcast_parallel.)"
reports "... also one that would be valid after another's system header" "row_parallel\.cpp:[0-9]+:[0-9]+: error: .*valarray"
reports "... and one that includes the checks" 'cases/cases.h(: No such file|. file not found)'
reports "... and a file that needs a look is the one that is named" 'not judged: .*data_parallel\.cpp: needs a look: it uses getpid'
verdict "$([[ $code == 8 ]] && grep -q '"not_judged": 20' "$json" && grep -qE '^ *"score": 45' "$json"; echo $?)" "... and the others keep their marks"
all_own "my own"
helper='[[maybe_unused]] int which(TYPE) { return NUMBER; }'
sed -i "0,/^namespace lab/s//namespace { ${helper//TYPE/double} }\n&/; s/NUMBER/1/" "$a4/accumulation.cpp"
sed -i "0,/^namespace lab/s//namespace { ${helper//TYPE/int} }\n&/; s/NUMBER/2/; s/BEGIN SOLUTION a4.single_step/&\n  if (which(1.5) != 2) throw 1;/" "$a4/single_step.cpp"
verdict "$(grep -q 'which(1.5)' "$a4/single_step.cpp" && grep -q 'which(double)' "$a4/accumulation.cpp"; echo $?)" "(the files are as meant)"
grade
scores "... and a helper is not taken for another file's" a4_data_tensor 120

# Nor where the judge was built with LAB_WERROR, whose -Werror comes before.
commands=$(grep '"command".*/student/[^ ]*\.cpp' "$bin/../compile_commands.json")
options=' -Wno-error -Werror=unused-result '
verdict "$([[ $commands ]] && ! grep -qv -- "$options" <<<"$commands" && ! grep -q -- "$options.* -Werror " <<<"$commands"; echo $?)" \
  "a student's file is not refused for any other warning"

# Before main begins, and from inside: neither reaches the judge.
submit a4_data_tensor
printf '#include <cstdlib>\nnamespace { const int kGone = (std::_Exit(0), 0); }\n' >>"$a4/row_parallel.cpp"
printf 'namespace lab { struct CaseRecord; std::string bytes_of_record(const CaseRecord&); }\n' >>"$a4/column_parallel.cpp"
printf 'void cheat(const lab::CaseRecord& record) { lab::bytes_of_record(record); }\n' >>"$a4/column_parallel.cpp"
grade
reports "a file that ends the program before it starts is left out and named" 'row_parallel.cpp.*before it starts'
reports "and so is code that calls the checks" 'belongs to the checks'
scores "... and the others keep their marks" a4_data_tensor 80
submit a4_data_tensor
sed -i 's/StepResult single_step(/StepResult another_step(/' "$a4/single_step.cpp"
grade
reports "a file without the function that the lab calls is left out, with the linker's words" 'single_step\.cpp: it cannot be linked'
reports "... which name it" 'undefined (symbol|reference to).*single_step'
scores "... and the others keep their marks" a4_data_tensor 105

on_two_sizes a9_collectives

# No mistake costs twice: with a wrong all-to-all, Ulysses is judged with the reference's.
submit a9_collectives
sed -i 's|result.part(src_rank)|result.part((src_rank + 1) % p2p.size())|' "$scratch/alice/a9_collectives/student/all_to_all/direct.cpp"
grade
report=$results/a9_collectives/report.md
verdict "$(grep -qE 'a9.all_to_all`\) \| 0 \| 7 \|' "$report" && grep -qE 'a9.ulysses`\) \| 20 \| 20 \|' "$report"; echo $?)" \
  "a wrong all-to-all costs its own marks and not those of Ulysses"

# A check that throws costs that check: 0.5 of 6 here, and nothing of the Transformer that sums with it.
submit a9_collectives
sed -i 's|  return broadcast_flat(tensor, 0, p2p);|  tensor.view({-1});\n&|' "$scratch/alice/a9_collectives/student/allreduce/gather_broadcast.cpp"
sed -i 's|.*BEGIN SOLUTION a9.allreduce_choice.*|  if (num_bytes + num_ranks >= 0) return "gather_broadcast";|' "$scratch/alice/a9_collectives/student/allreduce/my_allreduce.cpp"
grade --task a9.allreduce
verdict "$(grep -qE 'a9.allreduce`\) \| 5.5 \| 6 \|' "$report" && [[ $(grep -c 'AllReduceStrided' "$report") == 1 ]] && ! grep -q 'AllReduceLarge' "$report"; echo $?)" \
  "a check that throws costs that check, and is reported once"

# Marks by hand stay when a submission is graded again.
submit a9_collectives
cp "$root/a9_collectives/answers/written_answers_task1.md" "$scratch/alice/a9_collectives/"
grade --task a9.broadcast
manual=$results/a9_collectives/manual.toml
sed -i '/id = "a9.written_q1"/,/marks =/ s/.*marks =.*/marks = 4/' "$manual"
cp "$manual" "$scratch/by_hand"
grade --task a9.broadcast
scores "a mark by hand counts when it is graded again" a9_collectives 9
verdict "$(cmp -s "$manual" "$scratch/by_hand"; echo $?)" "... and is never overwritten"

# What is not a submission, and what is not the suite.
# Whoever changes a file that is given changes nothing, and nobody hands it in.
submit optC_model_parallel
echo '#error not used' >>"$scratch/alice/optC_model_parallel/student/f_and_g.cpp"
grade --lab optC --task optC.column_linear
reported=$(grep -E 'column_linear`\) \|.*passed' "$results/optC_model_parallel/report.md")
verdict $([[ $code == 0 && $reported ]]; echo $?) "a file that is given is the course's own"

run "$bin/labgrade" grade "$scratch/nobody" --source "$root" --build "$build"
refuses "a submission that is not there" 2 'nobody'
mkdir "$scratch/empty"
run "$bin/labgrade" grade "$scratch/empty" --source "$root" --build "$build"
refuses "a submission without a lab" 2 'empty'
run "$bin/labgrade" grade "$scratch/alice" --source "$root" --build "$scratch/empty"
refuses "a build folder without a build" 2 'lab build release'
run "$bin/labgrade" answers a9 --source "$root"
verdict "$([[ $code == 0 ]] && grep -q 'a9.written_q1' "$scratch/out"; echo $?)" "the answer key names what is marked by hand"
finish
