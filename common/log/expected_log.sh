# Sourced by ./lab expected-logs, and by the test that compares: writes a lab's expected_log.txt anew.
# shellcheck shell=bash

# expected_log PROGRAM FILE: what FILE should hold. The runs are those that its headings name, "run COMMAND OPTIONS",
# which an author writes; without any, the one without options. The lab's program may leave a folder out/ behind.
expected_log() {
  local words command runs
  runs=$(grep -E '^run( |$)' -- "$2" 2>/dev/null || echo run)
  cat <<'TEXT'
# The lines that a right run prints, for `lab check-log`. A heading is written by hand and names the run's command and
# options (others are left at their defaults, or change no line); `lab expected-logs` asks the lab for all the rest.
#   ranks 1-4,8    the numbers of ranks whose lines are known
#   RANKS | KIND | CONTENT
#     RANKS: on which ranks: all, 0, 0-2, last; "on 1-3,8": only in runs on 1, 2, 3 or 8 ranks; a semicolon separates cases
#     KIND: text, with fields such as {number}; True, with the largest max diff; False, with the exact figures, if they
#       are known; skipped, with the reason
TEXT
  while read -r -a words; do
    command=()
    if [[ ${words[1]:-} && ${words[1]} != -* ]]; then
      command=("${words[1]}")
      words=("${words[@]:1}")
    fi
    echo
    "$1" "${command[@]}" expected-log "${words[@]:1}" </dev/null || return
  done <<<"$runs"
}
