# What a student calls through ./lab: next, check, hint, watch, reset, submit, status. They build and start programs;
# the logic is in the program labcourse.
# Sourced by ./lab, whose root, package lists and helpers it uses.
# shellcheck shell=bash
# shellcheck disable=SC2154  # set by ./lab

help_on_course() {
  cat <<'TEXT'
  next [LAB]              name the next task, where to edit, what to read, how
                          to check it
  check [TASK or LAB]... [--nproc P] [--shake N] [--score]
        [--html FILE] [--junit FILE] [--json FILE] [--annotations]
                          build and check: what is wrong, on which rank, and
                          what that looks like; what the grading would refuse;
                          nothing named: all; with --shake: N more runs in
                          other orders of messages; with --score: what each
                          right check costs, next to the reference; with
                          --html: a page with what was found; for a CI job:
                          results of all labs in one file, and what is wrong
                          as annotations on GitHub
  view RUN.json [--out FILE]
                          make a page of a run that a lab wrote with --json:
                          timeline, work, messages, match lines
  hint TASK [LEVEL]       a hint; the next call gives a clearer one, up to the
                          third
  questions LAB [--id ID] print the written questions, with your own numbers if
                          your course gives each student others
  watch [TASK or LAB] [--timeout SECONDS]
                          check again whenever a student file is saved, until
                          Ctrl-C
  reset TASK [--all]      put the task's TODO back, after a copy of your file
                          went to .lab-backup/
  status [LAB]            list the tasks and how far each is
  submit [LAB]... [--name NAME] [--id ID]
                          check, run what the assignment asks for, and pack the
                          hand-in into submission/; asks once for your name and
                          id; exit code 1: packed, but something is missing
TEXT
}

readonly programs_folder=$root/build/release/bin

# course SUBCOMMAND [arguments]: the program that knows tasks and progress.
course() { "$programs_folder/labcourse" "$@" --root "$root"; }

ready_course() {
  ensure build >&2
  build release OFF labcourse >&2
}

command_next() { ready_course; course next "$@"; }
command_hint() { ready_course; course hint "$@"; }
command_questions() { ready_course; course questions "$@"; }
command_view() { ready_course; "$programs_folder/labcourse" view "$@"; }
command_reset() { ready_course; course reset "$@"; }
command_status() { ready_course; course status "$@"; }

# scratch_folder: makes one, removed when the command ends.
scratch_folder() {
  mkdir -p -- "$root/build"
  scratch=$(mktemp -d -- "$root/build/course.XXXXXX")
  trap 'rm -rf -- "$scratch"' EXIT
}

# build_lab LAB [FILE]: shows the compiler's messages, and keeps them in FILE.
build_lab() {
  local build_messages=${2:-}
  [[ ! $build_messages ]] || : >"$build_messages"
  build release OFF "$1" >&2 || { say "$1 was not built: the compiler's errors are above" >&2; return 1; }
}

# audit_lab LAB: what the grading would refuse is wrong here, too. Leaves these files in $refused.
audit_lab() {
  local said code=0
  said=$("$root/common/course/audit/audit_lab.sh" "$root" "$1") || code=1
  [[ ! $said ]] || printf '%s\n' "$said" >&2
  refused=$(sed -nE 's/^([^: ]+)(:[0-9]+)?: .*: student code must not use it; .*/\1/p' <<<"$said" | sort -u | paste -sd ' ' -)
  return "$code"
}

# results_of LAB: where the next results of LAB go, without the ending; in the order of the calls.
results_of() {
  mkdir -p -- "$scratch/results"
  printf '%s/results/%04d-%s' "$scratch" "$(find "$scratch/results" -type f | wc -l)" "$1"
}

# problem LAB WHAT [FILE]: results of LAB are missing, or are not all that there is to say. FILE: what its build printed.
problem() {
  local results
  results=$(results_of "$1")
  echo "$2" >"$results.problem"
  [[ ! -s ${3:-} ]] || cp -- "$3" "$results.build"
}

# check_program LAB [TASK]: checks with the program as built, and remembers the results, which are also left in
# $scratch/results. Options are in $check_options; $scratch/began has the time of the last build.
check_program() {
  local code=0 option options=() results
  for option in "${check_options[@]}"; do
    options+=("$option")
    [[ $option != --score ]] || options+=("$root/$1/reference_figures.json")
  done
  results=$(results_of "$1")
  [[ ! ${junit_file:-} ]] || options+=(--junit "$results.xml")
  "$programs_folder/$1" check "${@:2}" --json "$results.json" "${options[@]}" || code=$?
  if [[ -s $results.json ]]; then course record "$results.json" --since "$scratch/began"
  else
    rm -f -- "$results".{json,xml}
    problem "$1" "the check${2:+ of $2} ended with exit code $code, without results: see the log"
  fi
  return "$code"
}

# check_lab LAB [TASK]...: builds, audits and checks; all tasks if none is named. Returns the first exit code that is not
# 0. What the grading would refuse in one file keeps no other file's tasks from being checked.
check_lab() {
  local lab=$1 task code=0 first=0 left refused='' tasks=("${@:2}")
  touch -- "$scratch/began"
  build_lab "$lab" "$scratch/build" || {
    problem "$lab" "it was not built: see the compiler's errors" "$scratch/build"
    return 1; }
  audit_lab "$lab" || { problem "$lab" "the grading would refuse a file: see what the check has printed"; first=1; }
  if [[ $refused ]]; then
    left=$(course plan "${tasks[@]:-$lab}" --without "$refused")
    read -r -a tasks <<<"${left#* }"
    say "not checked, since nothing in it would count: $refused" >&2
    [[ $left ]] || return 1
  fi
  [[ ${#tasks[@]} != 0 ]] || tasks=('')
  for task in "${tasks[@]}"; do
    code=0
    check_program "$lab" ${task:+"$task"} || code=$?
    [[ $first != 0 ]] || first=$code
  done
  return "$first"
}

# can_write OPTION FILE: said before the checks, which take long.
can_write() { { : >>"$2"; } 2>/dev/null || die "$1: cannot write $2"; }

# Between these, GitHub takes nothing that is printed for a command: compilers and ranks print what students write.
stop_commands() {
  commands_token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  echo "::stop-commands::$commands_token"
}
resume_commands() { echo "::$commands_token::"; }

command_check() {
  local names=() words=() combined=() plan code first=0 annotations=
  junit_file=
  check_options=()
  while [[ $# != 0 && $1 != -* ]]; do names+=("$1"); shift; done
  while [[ $# != 0 ]]; do
    case $1 in
      --html | --junit | --json)
        [[ $# -ge 2 && $2 && $2 != -* ]] || die "$1: expected a file, such as: lab check a9 $1 results.${1:2}"
        can_write "$1" "$2"
        combined+=("$1" "$2")
        [[ $1 != --junit ]] || junit_file=$2
        shift ;;
      --html=* | --junit=* | --json=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
      --annotations) annotations=1; combined+=("$1") ;;
      *) check_options+=("$1") ;;
    esac
    shift
  done
  ready_course
  scratch_folder
  plan=$(course plan "${names[@]}") || exit
  [[ ! $annotations ]] || stop_commands
  while read -r -a words <&3; do
    code=0
    check_lab "${words[@]}" || code=$?
    [[ $first != 0 ]] || first=$code
  done 3<<<"$plan"
  [[ ! $annotations ]] || resume_commands
  if [[ ${#combined[@]} != 0 ]]; then
    mkdir -p -- "$scratch/results"
    course combine "$scratch/results" "${combined[@]}" || exit
  fi
  return "$first"
}

# in_background PROGRAM...: so that Ctrl-C reaches this script at once, not only when the program has ended.
in_background() {
  local code=0
  "$@" &
  background=$!
  wait "$background" || code=$?
  background=
  return "$code"
}

command_watch() {
  local names=() limit=120 lines=() words=() tasks=() line code
  if [[ $# != 0 && $1 != -* ]]; then names=("$1"); shift; fi
  if [[ ${1:-} == --timeout ]]; then limit=${2:-}; shift $(($# < 2 ? 1 : 2)); fi
  [[ $limit =~ ^[1-9][0-9]*$ ]] || die "--timeout: expected an integer number of seconds, got '$limit'"
  [[ $# == 0 ]] || die "watch takes one task or lab, and --timeout SECONDS; got '$1' as well"
  ready_course
  scratch_folder
  background=
  trap '[[ -z $background ]] || kill "$background" 2>/dev/null; echo; exit 130' INT TERM
  course wait "${names[@]}" --state "$scratch/files" || exit  # notes the files as they are now
  say "watching ${names[0]:-all labs}: save a file in student/ and it is checked; Ctrl-C ends this"
  while true; do
    in_background "$programs_folder/labcourse" wait "${names[@]}" --state "$scratch/files" --root "$root" \
      >"$scratch/saved" || exit
    mapfile -t lines <"$scratch/saved"
    echo "--- $(date +%H:%M:%S)  ${lines[0]}"
    tasks=()
    for line in "${lines[@]:1}"; do read -r -a words <<<"$line"; tasks+=("${words[@]:1}"); done
    code=0
    in_background timeout --kill-after=5 "$limit" "$root/lab" --no-install check "${tasks[@]}" || code=$?
    case $code in
      0) say "right" ;;
      124 | 137) say "stopped after $limit s: does a loop never end, or does a rank wait forever? (--timeout SECONDS)" ;;
      *) say "not yet (exit code $code)" ;;
    esac
  done
}

# run_for_hand_in LAB FOLDER: runs the lab; its results go to FOLDER.
run_for_hand_in() {
  local code=0
  say "running $1 on 4 ranks for its log"
  build release OFF labrun >&2
  rm -rf -- "$2"
  mkdir -p -- "$2"
  OUT=$2 "$root/$1/run.sh" --out "$2" || code=$?
  [[ $code == 0 ]] || {
    tail -n 3 -- "$2/$1.err" >&2 || true
    say "the run ended with exit code $code; what it left is taken all the same" >&2; }
}

# submit_lab LAB: checks, runs, packs. Unsolved tasks and missing files do not keep it from packing the rest.
submit_lab() {
  local results=$root/build/submit/$1 options=()
  if check_lab "$1"; then say "every task of $1 is solved"
  else say "not everything is solved: it can be handed in as it is, and gets the marks of what is right"; fi
  touch -- "$scratch/began"
  if [[ $(course needs-run "$1") == yes ]] && build_lab "$1"; then
    run_for_hand_in "$1" "$results"
    options=(--results "$results")
  fi
  course pack "$1" "${options[@]}"
}

command_submit() {
  local name found names=() identity=() plan words=() code=0 lab_code
  check_options=()
  while [[ $# != 0 ]]; do
    case $1 in
      --name | --id) [[ $# -ge 2 ]] || die "$1 needs a value"; identity+=("$1" "$2"); shift ;;
      --name=* | --id=*) identity+=("${1%%=*}" "${1#*=}") ;;
      -*) die "submit does not know '$1'; it knows --name NAME and --id ID" ;;
      *) found=$(lab_named "$1"); names+=("$found") ;;
    esac
    shift
  done
  ready_course
  course identity "${identity[@]}" || exit
  scratch_folder
  plan=$(course plan "${names[@]}") || exit
  while read -r -a words <&3; do
    say "--- ${words[0]}"
    lab_code=0
    submit_lab "${words[0]}" || lab_code=$?
    [[ $code != 0 ]] || code=$lab_code
  done 3<<<"$plan"
  return "$code"
}
