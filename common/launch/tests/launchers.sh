# Sourced by the tests with real launchers, each of which sets
#   told_by        who told the ranks, as the program calls it
#   rank_variable  where the launcher leaves a rank's number
#   names_killed   what the launcher prints if rank 2 was killed
#   launch LAB OPTION...  runs the lab on 4 ranks; leaves $scratch/out, $scratch/err and $code, 124 after $run_seconds
source "$(dirname -- "${BASH_SOURCE[0]}")/../../testing/program_checks.sh"
mapfile -t labs < <(cd "${LAB_SOURCE_DIR:?where the sources are}" && printf '%s\n' */rubric.toml | sed 's|/.*||')
run_seconds=$((300 + 10 * ${LAB_TIMEOUT:-10}))
mkdir "$scratch/work" "$scratch/tmp"
cd "$scratch/work" || exit 2
export TMPDIR=$scratch/tmp       # of the launchers
export LAB_LAUNCH_TEST=$scratch  # in the environment of this test's ranks only

# live_log LAB: the file in which a running lab's lines appear.
live_log() { echo "$scratch/out"; }

# options_of LAB: those with which it takes seconds.
options_of() { [[ $1 != optC_model_parallel ]] || printf '%s\n' --train-images 96 --test-images 32; }

# rank_processes [RANK]: the process ids of the launched ranks, or of one.
rank_processes() {
  local process
  grep -lzxsF "LAB_LAUNCH_TEST=$scratch" /proc/[0-9]*/environ | xargs -r grep -lzxs "$rank_variable=${1:-[0-9]*}" |
    while IFS=/ read -r _ _ process _; do
      [[ $(readlink "/proc/$process/exe") != "$(readlink -f "$bin")"/* ]] || echo "$process"
    done
}

# is_right WHAT LAB: the last launch printed exactly the lab's lines, and says who told the ranks.
is_right() {
  verdict "$(grep -qx "$2: rank 0 of 4, as told by $told_by" "$scratch/err"; echo $?)" "$1: as told by $told_by"
  accepts "$1" "$2" 4
}

every_lab_is_right() {
  local lab options
  for lab in "${labs[@]}"; do
    mapfile -t options < <(options_of "$lab")
    launch "$lab" "${options[@]}"
    is_right "$lab" "$lab"
  done
}

# launch_and_signal SIGNAL PATTERN LAB OPTION...: launches the lab, and signals rank 2 once the pattern is in the log.
launch_and_signal() {
  local signal=$1 pattern=$2 lab=$3 signaller
  shift 2
  rm -f "$(live_log "$lab")"
  {
    until rank=$(rank_processes 2); [[ $rank ]]; do sleep 0.1; done
    until grep -q "$pattern" "$(live_log "$lab")" 2>/dev/null; do sleep 0.02; done
    kill -s "$signal" "$rank"
  } &
  signaller=$!
  launch "$@"
  kill "$signaller" 2>/dev/null
  wait "$signaller" 2>/dev/null
}

# ends_with_cause WHAT PATTERN: the last launch ended by itself, with a code that is not 0, said why, and left no rank.
ends_with_cause() {
  verdict "$([[ $code != 0 && $code != 124 ]]; echo $?)" "$1: ends with code $code, expected neither 0 nor 124 (timed out)"
  verdict "$(grep -qE -- "$2" "$scratch/err" "$scratch/out"; echo $?)" "$1: the cause is named"
  for _ in $(seq 100); do [[ $(rank_processes) ]] || break; sleep 0.1; done
  verdict "$([[ ! $(rank_processes) ]]; echo $?)" "$1: no rank is left"
}

a_stopped_rank_ends_the_run() {
  launch_and_signal STOP 'Tensors match' "${labs[0]}" --repeat 1000000 --quiet --timeout 2
  ends_with_cause "rank 2 stopped" 'timed out after 2 s: rank [0-3] (is inside|waits to)'
}

a_failed_rank_ends_the_run() {
  local lab options
  for lab in "${labs[@]}"; do
    mapfile -t options < <(options_of "$lab")
    launch_and_signal KILL 'Tensors match' "$lab" --repeat 1000000 --quiet "${options[@]}"
    ends_with_cause "$lab, rank 2 killed" "rank 2 failed: its connection closed|$names_killed"
  done
  launch "${labs[0]}" --no-such-option
  ends_with_cause "a wrong option" "error: unknown option '--no-such-option'"
}
