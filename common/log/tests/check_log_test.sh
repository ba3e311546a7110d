#!/usr/bin/env bash
# labchecklog, as a user or a course's CI calls it, with a right log made of A4's lines.
source "$(dirname -- "$(readlink -f -- "$0")")/../../testing/program_checks.sh"
program=$bin/labchecklog
says() { verdict "$([[ $code == "$2" ]] && grep -qE -- "$3" "$scratch/out"; echo $?)" "$1: exit code $2, $3"; }

"$bin/a4_data_tensor" --nproc 2 >"$scratch/right.log" 2>"$scratch/err" || verdict 1 "a4 on 2 ranks"
run "$program" a4 "$scratch/right.log" --nproc 2
says "a right log" 0 ': accepted: exactly the lines of a right run on 2 ranks$'
run bash -c "'$program' a4_data_tensor - --nproc 2 <'$scratch/right.log'"
says "... from standard input" 0 '^-: accepted'
run "$program" a4 "$scratch/right.log"
says "... of another number of ranks" 1 'right\.log: rank 3: printed nothing'
run "$bin/a4_data_tensor" check-log "$scratch/right.log" --nproc 2
says "the lab itself agrees" 0 ': accepted: exactly the lines of a right run on 2 ranks$'

# As terminals, CI services and editors leave it.
captured() { # captured WHAT COMMAND...: the right log, through a filter
  "${@:2}" <"$scratch/right.log" >"$scratch/captured.log"
  run "$program" a4 "$scratch/captured.log" --nproc 2; says "a right log $1" 0 ': accepted'
}
captured "with CR LF" sed 's/$/\r/'
captured "with a byte order mark" sed '1s/^/\xEF\xBB\xBF/'
captured "of GitHub Actions" sed 's/^/2025-01-31T12:34:56.1234567Z /'
captured "with the time" sed 's/^/12:34:56 /'
captured "of torchrun --tee" sed 's/^/[default0]:/'
captured "of MPICH" sed 's/^/[0] /'
captured "in colours" sed 's/^\(.*\)$/\x1B[32m\1\x1B[0m/'
captured "in UTF-16" iconv -f UTF-8 -t UTF-16
captured "in UTF-16, big endian, with CR LF" bash -c 'printf "\xFE\xFF"; sed "s/\$/\r/" | iconv -f UTF-8 -t UTF-16BE'

"$bin/labrun" --nproc-per-node 2 "$bin/a4_data_tensor" >"$scratch/both.log" 2>&1
run "$program" a4 "$scratch/both.log" --nproc 2; says "both streams in one file" 0 ': accepted'
env RANK=0 WORLD_SIZE=1 LAB_TIMEOUT=x "$bin/a4_data_tensor" >>"$scratch/both.log" 2>&1
run "$program" a4 "$scratch/both.log" --nproc 2; says "... and an error in it" 1 'unknown line "a4_data_tensor: error: '

# At most ten problems.
sed 's/True/False/; s/] done/] dome/' "$scratch/right.log" >"$scratch/wrong.log"
run "$program" a4 "$scratch/wrong.log" --nproc 2
says "a wrong log" 1 'wrong\.log: and [0-9]+ more problems$'
verdict "$([[ $(wc -l <"$scratch/out") == 11 ]]; echo $?)" "... ten problems and how many more"
sed 's/] done/] dome/' "$scratch/right.log" >"$scratch/wrong.log"
run "$program" a4 "$scratch/wrong.log" --nproc 2
says "two problems" 1 'expected "\[Rank 0\] done", got "\[Rank 0\] dome"'
verdict "$([[ $(wc -l <"$scratch/out") == 2 ]]; echo $?)" "... are two lines"
: >"$scratch/empty.log"
run "$program" a4 "$scratch/empty.log"; says "an empty log" 1 'the log is empty; expected the output of a run'

# Files that are not logs.
run "$program" a4 "$scratch" --nproc 2; refuses "a folder" 2 'it is a folder; expected the log of a run, such as .*/NAME\.log, or -$'
run bash -c "'$program' a4 - <'$scratch'"; refuses "a folder as standard input" 2 'cannot read standard input: it is a folder'
run "$program" a4 "$scratch/none.log"; refuses "a file that is not there" 2 'cannot read .*/none\.log: No such file or directory; expected the log of a run, or -$'
run "$program" a4 "$program"; refuses "a program" 2 'it is not text; expected the log of a run'
run "$program" a4 /dev/zero; refuses "an endless file" 2 'it has more than 4 MiB'
run "$program" a77 "$scratch/right.log"; refuses "a lab that there is not" 2 "unknown lab 'a77'"
run "$program" a4 "$scratch/right.log" --nproc 3; refuses "a number of ranks on which the lab does not run" 2 'a run on 3 ranks: expected one of the numbers of ranks whose lines are known, 1-2,4'
run "$program" a4 "$scratch/right.log" -- --seed 7; refuses "options without a list of lines" 2 "a4_data_tensor with '--seed 7'"
run "$program" a4; refuses "no file" 2 'expected FILE'

# The runs of other commands and options.
"$bin/vae_sequence_parallel" modules --only upsample --nproc 2 --out "$scratch" >"$scratch/modules.log" 2>"$scratch/err"
run "$program" vae "$scratch/modules.log" --nproc 2 -- modules --only=upsample
says "a command's log" 0 ': accepted'
run "$program" vae "$scratch/modules.log" --nproc 2 -- modules
says "... compared with another's" 1 'missing before here'

verdict "$(! grep -qE 'lib(torch|c10|gloo|archive)' <<<"$(ldd "$program")"; echo $?)" "it is linked with none of the labs' libraries"
finish
