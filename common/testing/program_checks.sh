# Sourced by a lab's program_test.sh: runs the lab's binary as a user would and checks the output.
# Needs LAB_BIN_DIR; every check prints a line, and `finish` prints the verdict.
set -uo pipefail
bin=${LAB_BIN_DIR:?where the binaries are}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
num_passed=0 num_failed=0

verdict() { # verdict 0|1 WHAT
  if [[ $1 == 0 ]]; then
    num_passed=$((num_passed + 1))
    echo "ok      $2"
  else
    num_failed=$((num_failed + 1))
    echo "FAILED  $2"
    [[ ! -s $scratch/err ]] || sed 's/^/          stderr: /' "$scratch/err" | head -n 12
  fi
}

skip() { echo "skipped: $1"; }

# run COMMAND...: leaves $scratch/out, $scratch/err and $code. Only what hangs takes ten minutes, however busy the machine.
run() {
  code=0
  timeout --kill-after 10 600 "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
}

# accepts WHAT LAB NPROC: the last run ended with 0 and printed exactly the lab's lines.
accepts() {
  local what=$1 lab=$2 num_ranks=$3
  if [[ $code != 0 ]]; then
    verdict 1 "$what: exit code $code"
  else
    "$bin/$lab" check-log "$scratch/out" --nproc "$num_ranks" >"$scratch/err" 2>&1
    verdict $? "$what: exactly the expected lines"
  fi
}

# says WHAT PATTERN: the last run's output has a line like it.
says() { verdict "$(grep -qE -- "$2" "$scratch/out"; echo $?)" "$1"; }

# right WHAT NPROC OPTION...: $program, run with these, prints exactly the lines of $lab.
right() { run "$program" "${@:3}"; accepts "$1" "$lab" "$2"; }

# refuses WHAT CODE PATTERN: the last run ended with CODE and a single line on stderr, which matches PATTERN.
refuses() {
  local lines
  lines=$(grep -c . "$scratch/err")
  if [[ $code == "$2" && $lines == 1 ]] && grep -qE -- "$3" "$scratch/err"; then verdict 0 "$1"; else
    verdict 1 "$1: expected exit code $2 and one line like '$3', got $code and $lines lines"
  fi
}

# explains_itself PROGRAM: --help lists the commands, a misspelt one is suggested, and --help fits into 80 columns,
# save for single words.
explains_itself() {
  local command commands wide
  run "$1" --help
  wide=$(awk 'length > 80 && NF > 1' "$scratch/out")
  mapfile -t commands < <(sed -n '/^Commands:$/,/^$/s/^  \([a-z-]*\) .*/\1/p' "$scratch/out")
  for command in "${commands[@]}"; do
    run "$1" "$command" --help
    [[ $code == 0 ]] || wide+=" $command: exit code $code"
    wide+=$(awk 'length > 80 && NF > 1' "$scratch/out")
  done
  verdict "$([[ " ${commands[*]} " == *" check-log "* && ! $wide ]]; echo $?)" "--help of ${commands[*]}: within 80 columns $wide"
  run "$1" chek-log; refuses "a misspelt command" 2 "unknown command 'chek-log'; did you mean 'check-log'\?"
}

# launcher NAME: true if the launcher can start a program here.
launcher() {
  case $1 in
    torchrun)
      starts "${torchrun[@]}" "${rendezvous[@]}" --nproc_per_node 1 && return
      rendezvous=(--rdzv_backend c10d --rdzv_conf store_type=file)  # a build without libuv, such as Debian 13's
      export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
      starts "${torchrun[@]}" "${rendezvous[@]}" --nproc_per_node 1 ;;
    mpirun) starts "${mpirun[@]}" -n 1 ;;
    srun) starts srun -n 1 ;;
  esac
}
starts() { command -v "$1" >/dev/null && timeout 120 "$@" true >/dev/null 2>&1; }
# The last two options say something about a rank 9, which is not there: by default, Debian 12's torchrun looks up members
# 0 and 3 of an enumeration of flags over which Python 3.11 no longer iterates.
torchrun=(torchrun --no_python --log_dir "$scratch/torchrun" --redirects 9:1 --tee 9:1)
rendezvous=(--standalone)
mpirun=(mpirun --oversubscribe)
[[ $EUID != 0 ]] || mpirun+=(--allow-run-as-root)

# four_ranks_of LAUNCHER_PID: waits for the four ranks and puts their process ids into the array `ranks`.
four_ranks_of() {
  for _ in $(seq 1200); do  # the lab may prepare something before it has ranks
    mapfile -t ranks < <(pgrep -P "$1")
    [[ ${#ranks[@]} == 4 ]] && break
    sleep 0.05
  done
  sleep 0.5
}

# alive PID...: those that still run, without zombies: in some containers process 1 never waits for its children.
alive() { ps -o pid=,stat= -p "$*" | awk '$2 !~ /^Z/ {print $1}'; }

# dies_with_launcher PROGRAM OPTION...: the launcher is killed during work; no rank and no temporary file is left.
dies_with_launcher() {
  local launcher_pid ranks
  mkdir "$scratch/tmpdir"
  TMPDIR=$scratch/tmpdir "$@" --nproc 4 --repeat 1000000 --quiet >/dev/null 2>&1 &
  launcher_pid=$!
  four_ranks_of "$launcher_pid"
  kill -KILL "$launcher_pid"
  wait "$launcher_pid" 2>/dev/null || true
  for _ in $(seq 100); do [[ $(alive "${ranks[@]}") ]] || break; sleep 0.1; done
  verdict "$([[ -z $(alive "${ranks[@]}") ]]; echo $?)" "the ranks of a killed launcher are gone"
  verdict "$([[ -z $(ls -A "$scratch/tmpdir") ]]; echo $?)" "... and leave no temporary file"
}

# survives_killed RANK PROGRAM: one of 4 ranks is killed during work; the run ends with its signal, says so, and leaves
# no rank behind.
survives_killed() {
  local victim=$1 program=$2 launcher_pid ranks
  "$program" --nproc 4 --repeat 1000000 --quiet >/dev/null 2>"$scratch/err" &
  launcher_pid=$!
  four_ranks_of "$launcher_pid"
  kill -KILL "${ranks[victim]}"
  code=0
  wait "$launcher_pid" || code=$?
  verdict "$([[ $code == 137 ]] && grep -q "rank $victim: killed by signal 9 (SIGKILL)" "$scratch/err"; echo $?)" "a killed rank ends the run with its signal"
  verdict "$([[ -z $(alive "${ranks[@]}") ]]; echo $?)" "... and leaves no rank behind"
}

finish() {
  echo "$num_passed passed, $num_failed failed"
  [[ $num_failed == 0 ]]
}
