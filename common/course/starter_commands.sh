# What ./lab does only in a starter: demo and test for a student who has solved none or some of the tasks.
# Sourced by ./lab, whose root, package lists and helpers it uses.
# shellcheck shell=bash
# shellcheck disable=SC2154  # set by ./lab

readonly has_tests=OFF

help_on_tree() {
  cat <<'TEXT'
  demo                    set up, build, show what runs before anything is
                          solved: a deadlock, a learning curve, a speed-up;
                          name each lab's next task
  test                    set up, build, check every task, count; exit code 0:
                          all solved, 1: something is wrong or could not be
                          checked, 3: else, but TODOs are left
  update DIR              bring this folder up to the newer version that was
                          unpacked in DIR; your work stays
TEXT
}

demo() {
  [[ $# == 0 ]] || die "demo takes no arguments; to see one lab: lab run a4 --help"
  local name labs out=$root/out start=$SECONDS set_up built
  mapfile -t labs < <(all_labs)
  ensure build
  set_up=$SECONDS
  say "building the programs with $(build_jobs) job(s)"
  build release OFF programs lab_demo
  built=$SECONDS
  mkdir -p -- "$out"
  show_demo "$out"
  show_ranks "${labs[0]}"
  for name in "${labs[@]}"; do show_provided "$name" "$out"; done
  say "set-up $((set_up - start)) s, build $((built - set_up)) s, the rest $((SECONDS - built)) s; pictures are in $out"
  say "this machine can do all of it. What there is to do first in each lab; later, ./lab next says it:"
  for name in "${labs[@]}"; do echo; (course next "$name"); done
}

# show_ranks LAB: four ranks start and find each other; the first unwritten task ends them.
show_ranks() {
  local code=0
  say "$1 starts 4 ranks, each a process"
  "$root/build/release/bin/$1" --nproc 4 --out "$root/out" >"$root/build/demo.log" 2>&1 || code=$?
  grep -E 'initialized|ready|not implemented' "$root/build/demo.log" || true
  [[ $code != 3 ]] || say "that is how a TODO ends a program: with a task's name, and exit code 3"
}

# show_provided LAB FOLDER: what a lab can do without its tasks.
show_provided() {
  local program=$root/build/release/bin/$1
  case $1 in
    a5_pipeline)
      say "drawing four pipeline schedules, and one on a simulated network"
      draw_schedules "$2" ;;
    vae_sequence_parallel)
      say "a picture through the autoencoder, in one process"
      "$program" encode --out "$2"
      "$program" baseline --out "$2" ;;
    optC_model_parallel)
      say "a short training in one process: the curves that yours will have to match"
      "$program" single --train-images 256 --test-images 64 --epochs 2 --out "$2" | grep -E '^epoch|png$' ;;
  esac
}

# test: checks every task and counts; a line for each that is not a TODO.
run_tests() { run_course test "$@"; }

# update DIR: takes the newer version's files, except where yours stay.
command_update() { run_course update "$@"; }
