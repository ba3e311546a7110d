#!/usr/bin/env bash
# Every folder includes only what it may, and every third-party library has one seam. Greps the includes; prints each
# offender.
# usage: check_layers.sh SOURCE_DIR
set -uo pipefail
cd "$1" || exit 2
offenders=0

# complain MESSAGE, with the offending lines on standard input
complain() {
  local line
  while IFS= read -r line; do
    echo "$1: $line"
    offenders=$((offenders + 1))
  done
}

readonly files=$(find . -path ./build -prune -o \( -name '*.cpp' -o -name '*.h' \) -print | sed 's|^\./||')
# FILE:LINE:#include ... of each include.
readonly includes=$(xargs grep -HnE '#include [<"]' /dev/null <<<"$files")

# of WHERE [PATTERN]: includes of PATTERN in files whose path begins with WHERE
of() { grep -E "^($1)[^:]*:[0-9]+:.*#include [<\"](${2-})" <<<"$includes"; }
# not_in WHERE: leaves out files whose path begins with WHERE
not_in() { grep -vE "^($1)"; }

# The folders of common/ that each may include, in addition to itself and to api.
declare -A uses=(
  [api]=''
  [base]=''
  [cli]='base'
  [log]='base cli'
  [plot]='base'
  [page]='base plot'
  [course]='base cli log page'
  [tensor]='base'
  [comm]='base plot tensor'
  [launch]='base cli log tensor comm'
  [rank]='base tensor comm launch'
  [checks]='base cli log plot page tensor comm launch rank'
  [pipeline]='base plot comm'
  [bench]='base cli tensor comm launch'
  [demo]='base cli log plot tensor comm launch rank pipeline'
  [doctor]=''
  [pch]=''
  [python]=''
  [testing]='base log tensor launch checks'
)
readonly labs_use='base cli log plot page course tensor comm launch rank checks pipeline bench pch'
readonly grading_uses='base cli log page course tensor comm launch rank checks bench'
readonly tests_use='testing launch tensor comm course plot' # also
readonly tests='([^:]*/)?(tests|hostile)/'

# check_folder FOLDER NAMES: what FOLDER includes of common/ is in NAMES; its tests, and what runs the hostile hand-ins,
# may also include tests_use.
check_folder() {
  local allowed="api|${2// /|}"
  complain "$1 may not include it" < <(of "$1/" common/ | not_in "$1/$tests" | grep -vE "\"common/($allowed)/")
  complain "tests of $1 may not include it" \
    < <(of "$1/$tests" common/ | grep -vE "\"common/($allowed|${tests_use// /|})/")
}

for folder in common/*/; do
  folder=${folder%/} name=$(basename "$folder")
  [[ $name == cmake ]] && continue
  if [[ ! -v uses[$name] ]]; then
    complain "check_layers.sh does not say what a new folder may include" <<<"$folder"
    continue
  fi
  check_folder "$folder" "$name ${uses[$name]}"
done
labs=()
for rubric in */rubric.toml; do labs+=("${rubric%/*}"); done
for lab in "${labs[@]}"; do check_folder "$lab" "$labs_use"; done
check_folder grading "$grading_uses"

# The floors of grading/: what each folder may include of the others; `commands` are above all.
declare -A floors=(
  [marks]='' [submission]='' [tokens]='' [processes]='' [starter]='' [regenerate]='' [sandbox]=''
  [compile]='sandbox tokens'
  [judge]='compile sandbox marks submission'
  [batch]='judge processes marks submission'
  [similarity]='batch starter sandbox submission'
  [hostile]='judge processes'
  [solutions]='judge compile marks processes sandbox tokens'
  [commands]='batch hostile judge marks processes similarity solutions submission'
)
for folder in grading/*/; do
  folder=${folder%/} name=$(basename "$folder")
  [[ $name == autograder ]] && continue
  [[ -v floors[$name] ]] || complain "check_layers.sh does not say what a new folder may include" <<<"$folder"
  below="$name ${floors[$name]:-}"
  complain "$folder may not include it" \
    < <(of "$folder/" grading/ | not_in "$folder/$tests" | grep -vE "\"grading/(${below// /|})/")
done
# Each CMakeLists compiles what is below it.
complain "a folder compiles its own files only" < <(find grading -name CMakeLists.txt -exec grep -HnE '\.\./.*\.cpp' {} +)

readonly all_labs=$(IFS='|' && echo "${labs[*]}")
complain "of common/, student files and contracts may include api only" \
  < <(of "($all_labs)/([^/:]*\.h|student/)" common/ | grep -vE '"common/api/[a-z_]+\.h"')
complain "only grading may use grading" < <(of "common/|($all_labs)/" grading/)
for lab in "${labs[@]}"; do
  complain "only $lab and grading may use $lab" < <(of "common/|($all_labs)/" "$lab/" | not_in "$lab/")
done

# seam PATTERN WHERE: only files whose path matches WHERE may include PATTERN.
seam() { complain "$1 is used in $2 only" < <(of '' "$1" | grep -vE "$2"); }
seam 'common/comm/(gloo/|thread/|sim/(backend|engine)|relay/(frame|gathering|hub|payload_tensor)|[a-z_]*_backend)' '^common/comm/'
seam 'gloo/' '^common/comm/(gloo/|tests/gloo_)|^common/bench/|/compile_fail/'
seam 'torch/csrc/distributed' '^common/comm/(gloo/|tests/gloo_)|/compile_fail/'
seam 'mpi\.h[">]' '^common/bench/mpi_peer\.cpp'
seam '(simgrid|xbt)/' '^common/comm/sim/(backend|engine|platform)\.'
seam 'CLI/' '^common/cli/(app|app_names|tests/app_test)\.cpp|^common/launch/supervise/launch_options\.cpp|/main\.cpp'
seam 'stb/' '^common/tensor/files/picture'
seam 'c10/cuda/' '^common/tensor/meters/cuda_memory\.cpp'
seam 'archive(_entry)?\.h[">]' '^common/(base/archive_reader|course/hand_in/archive|testing/archive_builder)'
seam 'pugixml' '^common/(page/junit_xml|testing/junit_schema)\.cpp'
seam 'toml\+\+/' '^common/course/rubric/toml_table\.cpp'
seam 'sodium\.h[">]' '^common/(course/rubric/(content|keyed)_hash|tensor/seeded)\.cpp'
seam 'kainjow/' '^common/page/html_page\.cpp'
seam 'doctest/' '^common/testing/'

# These are programs, so their seam is where a name is used to start one.
complain "gnuplot and rsvg-convert are started in common/plot only" \
  < <(not_in common/plot/ <<<"$files" | xargs grep -HnE '"([^" ]*/)?(gnuplot|rsvg-convert)["; ]' /dev/null)

# Processes are created in one place. A janitor must outlive its parent, and a judged rank is forked before its program
# begins.
complain "processes are created in common/base/subprocess only" \
  < <(grep -vE '/tests/|^common/(base/subprocess|launch/supervise/janitor|rank/start/)' <<<"$files" |
    xargs grep -HnE '(^|[^_[:alnum:]])(v?fork|popen|system|posix_spawnp?)\(' /dev/null)

# LibTorch does not tell OpenBLAS.
complain "the number of threads is set by use_threads() in common/tensor/compute_threads only" \
  < <(grep -vE '^common/tensor/(compute_threads\.|tests/)' <<<"$files" |
    xargs grep -HnE 'at::set_num_threads\(' /dev/null)

# Without tensors: this is why labrun, labcourse and the launcher start in milliseconds.
for folder in base cli log plot page course; do
  complain "common/$folder must not use LibTorch" \
    < <(of "common/$folder/" '((ATen|torch|c10)/|common/api/)' | grep -v '"common/api/errors\.h"')
done

echo "$offenders offending includes"
[[ $offenders == 0 ]]
