# What ./lab does in the whole tree only: demo, test, and what instructors need.
# Sourced by ./lab, whose root, package lists and helpers it uses.
# shellcheck shell=bash
# shellcheck disable=SC2154  # set by ./lab

readonly has_tests=ON

help_on_tree() {
  cat <<'TEXT'
  demo                    set up, build the programs, run each lab on 4 ranks,
                          check its log, leave pictures in out/
  test [--ci|--all|--nightly|--times] [--junit FILE]
                          set up, build, run the quick tests
                          --ci: also wrong solutions, and each task of a starter
                          --all: also the long ones, and everything under the
                          sanitizers; --nightly: all there is
                          --times: run none, print what each took last time
                          --junit FILE: results as JUnit XML; the sanitizers'
                          go next to it (x.xml, x-asan.xml)
  starter DIR             make or update the students' tree in DIR
  grade SUBMISSION        judge a folder, a zip or a5_answers.md
  grade-all FOLDER|ZIP    judge a class
  similar FOLDER|ZIP      the pairs of a class that have the most in common
  marks DIR               recompute the marks of a grading
  answers LAB             print the answer key
  solutions [NAME...]     is each wrong solution caught, each right one not?
  hostile [NAME...]       grade hand-ins that attack the grading
  autograder gradescope LAB [--out FILE] [--rubric FILE] [--seed S]
                          write the archive from which the platform grades
                          each submission by itself
  regenerate [--check]    write what follows from rubrics and references
  bench NAME [arguments]  run a benchmark: launch, p2p, collectives
TEXT
}

source "$root/grading/autograder/autograder.sh"

# make_scratch_folder: $scratch, removed when the command ends.
make_scratch_folder() {
  mkdir -p -- "$root/build"
  scratch=$(mktemp -d -- "$root/build/scratch.XXXXXX")
  trap 'rm -rf -- "$scratch"' EXIT
}

command_bench() {
  [[ ${1:-} =~ ^(launch|p2p|collectives)$ ]] || die "bench needs one of: launch, p2p, collectives"
  start "bench_$1" "${@:2}"
}

demo() {
  [[ $# == 0 ]] || die "demo takes no arguments; to choose some: lab run a4 --help"
  local name log out=$root/out start=$SECONDS set_up built code matches=0
  ensure build
  set_up=$SECONDS
  say "building the programs with $(build_jobs) job(s)"
  build release OFF programs lab_demo
  built=$SECONDS
  mkdir -p -- "$root/build/demo"
  for name in $(all_labs); do
    say "running $name on 4 ranks"
    log=$root/build/demo/$name.log code=0
    "$root/build/release/bin/$name" --nproc 4 --out "$out" | tee -- "$log" || code=${PIPESTATUS[0]}
    [[ $code == 0 ]] || { say "the run ended with exit code $code; the README says what that means" >&2; exit "$code"; }
    "$root/build/release/bin/labchecklog" "$name" "$log" --nproc 4
    matches=$((matches + $(grep -c 'Tensors match: True' "$log")))
  done
  show_demo "$out"
  say "drawing four pipeline schedules, what a9_collectives did and would do on 64 simulated ranks, and a decoder's memory"
  draw "$out"
  show_memory_limit "$out"
  say "set-up $((set_up - start)) s, build $((built - set_up)) s, runs, checks and pictures $((SECONDS - built)) s"
  say "4 ranks computed everything in parallel and $matches comparisons matched, as they should; the pictures are in $out"
}

# draw FOLDER: pictures of pipeline schedules; of collectives, from traces of the real code and from the simulated
# network; of a rank's memory while it decodes its part of a picture.
draw() {
  local words program=$root/build/release/bin/a9_collectives
  can_draw || return 0
  draw_schedules "$1"
  "$program" explain all_to_all --out "$1"
  for words in "allreduce --algorithm rabenseifner" "allgather --algorithm bruck --nproc 5" "broadcast --algorithm binomial --nproc 8"; do
    "$program" explain $words --out "$1" --format png
  done
  "$program" sim --collective allreduce --ranks 64 --sweep --out "$1" | grep -E '^(from|drawn)' ||
    say "this build has no simulated network (package libsimgrid-dev)"
  "$root/build/release/bin/vae_sequence_parallel" memory --config small --out "$1"
}

# show_memory_limit FOLDER: a picture that does not fit one rank's memory, but that of four.
show_memory_limit() {
  local program=$root/build/release/bin/vae_sequence_parallel megabytes=24 code=0
  say "decoding the VAE's picture with at most $megabytes MB on a rank: one rank cannot, and four can"
  "$program" test --nproc 1 --memory-limit "$megabytes" --out "$1" >/dev/null || code=$?
  [[ $code == 2 ]] || { say "expected exit code 2, got $code" >&2; exit 1; }
  "$program" test --nproc 4 --memory-limit "$megabytes" --out "$1" | grep -E 'Reconstruction|held at most'
}

run_tests() {
  local labels=quick sanitized='' junit='' asan_junit='' code=0 start=$SECONDS
  while [[ $# -gt 0 ]]; do
    case $1 in
      --all) labels='quick|ci|all' sanitized=1 ;;
      --nightly) labels='quick|ci|all|nightly' sanitized=1 ;;
      --ci) labels='quick|ci' ;;
      --times) print_times; return ;;
      --junit=?*) set -- --junit "${1#*=}" "${@:2}"; continue ;;
      --junit) [[ ${2:-} ]] || die "--junit needs a file"
        junit=$(realpath -m -- "$2") asan_junit=${junit%.xml}-asan.xml; shift ;;
      --no-install) no_install=1 ;;
      *) die "test does not know '$1'; it knows --ci, --all, --nightly, --times and --junit FILE" ;;
    esac
    shift
  done
  ensure build test
  say "building programs and tests with $(build_jobs) job(s)"
  build release ON programs tests
  say "set-up and build took $((SECONDS - start)) s"
  run_ctest release "$labels" "$junit" || code=1
  if [[ $sanitized ]]; then
    say "the same under the sanitizers"
    build asan ON programs tests
    [[ $code == 0 ]] || say "the release tests failed: see above, or build/release/Testing/Temporary/LastTest.log" >&2
    run_ctest asan 'quick|ci|all' "$asan_junit" || code=1
  fi
  return "$code"
}

# print_times: of the last run of release's tests, the seconds that each took, the longest first, and their share of all.
print_times() {
  local log=$root/build/release/Testing/Temporary/LastTest.log
  [[ -f $log ]] || die "test --times: no test was run here yet; hint: lab test"
  sed -nE 's|^[0-9]+/[0-9]+ Testing: (.+)|\1|p; s|^Test time = +([0-9.]+) sec|\1|p' "$log" | paste - - |
    sort -t $'\t' -k 2 -rn |
    awk -F '\t' '{name[NR] = $1; took[NR] = $2; sum += $2}
      END {for (i = 1; i <= NR; ++i) printf "%8.1f s %5.1f %%  %s\n", took[i], 100 * took[i] / (sum ? sum : 1), name[i]
           printf "%8.1f s of %d tests, up to three at a time\n", sum, NR}'
}

# unit_of_work PRESET: the milliseconds that four ranks take to start, train and end: how fast this machine is right now.
unit_of_work() {
  local start=${EPOCHREALTIME/[.,]/}
  "$root/build/$1/bin/a4_data_tensor" --nproc 4 --timeout 600 >/dev/null 2>&1 || true
  echo $(((${EPOCHREALTIME/[.,]/} - start) / 1000))
}

# run_ctest PRESET LABELS JUNIT_FILE: ctest's summary comes last.
run_ctest() {
  local unit limit
  unit=$(unit_of_work "$1")
  # The longest quick test takes about 100 units, the longest nightly one 20,000; a test that hangs must end eventually.
  limit=$((600 + unit * 2))
  [[ $2 != *nightly* ]] || limit=$((limit * 10))
  export LAB_TIMEOUT=$((10 + unit / 25))  # limit on each wait of the programs that a test starts
  # Large pages: where a hypervisor has a part in each page fault, small ones took a quarter of the programs' time.
  export GLIBC_TUNABLES=${GLIBC_TUNABLES:-glibc.malloc.hugetlb=1}
  say "a unit of work takes $unit ms here: a test may take $limit s, and a wait $LAB_TIMEOUT s"
  # At most three at a time: each starts ranks of its own, and on two cores a third has work where one of the others waits.
  local options=(--parallel "$(($(build_jobs) < 2 ? 1 : 3))" --test-dir "$root/build/$1" -L "^($2)\$" --output-on-failure
    --no-tests=error --timeout "$limit")
  [[ ! $3 ]] || { mkdir -p -- "$(dirname -- "$3")"; options+=(--output-junit "$3"); }
  ctest "${options[@]}"
}

# starter DIR [--labs LABS]: the students' tree, or an update of one.
command_starter() { start labstarter --source "$root" "$@"; }

# judge COMMAND [arguments]: runs labgrade, after building everything that it builds submissions from. Submissions are also
# graded without bubblewrap; the report then says so.
judge() {
  [[ $# -gt 1 || $1 == solutions || $1 == hostile ]] || die "$1: expected an argument, got nothing; lab help $1 says which"
  local targets=(programs labgrade)
  [[ $1 != solutions ]] || targets+=(trials)
  ensure build bubblewrap patch >&2
  build release OFF "${targets[@]}" >&2
  exec "$root/build/release/bin/labgrade" "$@" --source "$root"
}
for name in grade grade-all similar marks answers solutions hostile; do eval "command_$name() { judge $name \"\$@\"; }"; done

command_regenerate() {
  ensure build
  build release OFF programs labregenerate
  exec "$root/build/release/bin/labregenerate" "$@" "$root"
}
