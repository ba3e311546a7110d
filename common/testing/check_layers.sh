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

# includes PATTERN FILE...: the lines that include it
includes() { [[ $# == 1 ]] || grep -HnE "#include [<\"]$1" /dev/null "${@:2}"; }

# The folders of common/ that each may include, in addition to itself.
declare -A uses=(
  [base]=''
  [cli]='base'
  [log]='base cli'
  [plot]='base'
  [page]='base'
  [course]='base cli page'
  [tensor]='base'
  [comm]='base plot tensor'
  [launch]='base cli log tensor comm'
  [rank]='base tensor comm launch'
  [checks]='base cli log page tensor comm launch rank'
  [pipeline]='base plot comm'
  [bench]='base cli tensor comm launch'
  [demo]='base cli log plot tensor comm launch rank pipeline'
  [doctor]=''
  [pch]='base tensor comm'
  [python]=''
  [testing]='base log tensor launch checks'
  [report]='base' # forwarding headers for hand-ins of earlier versions
)
readonly labs_use='base cli log plot page course tensor comm launch rank checks pipeline bench pch'
readonly grading_uses='base cli log page course tensor comm launch rank checks bench'
readonly tests_use='testing launch tensor comm course' # also
readonly hand_ins='*/hostile/*/student/*'              # hostile ones include what they must not: that is the test

# check_folder FOLDER NAMES: what FOLDER includes of common/ is in NAMES; its tests, and what runs the hostile hand-ins,
# may also include tests_use.
check_folder() {
  local allowed=${2// /|}
  mapfile -t files < <(find "$1" \( -name '*.cpp' -o -name '*.h' \) -not -path '*/tests/*' -not -path '*/hostile/*' -print)
  complain "$1 may not include it" < <(includes 'common/' "${files[@]}" | grep -vE "\"common/(${allowed:--})/")
  mapfile -t files < <(find "$1" \( -name '*.cpp' -o -name '*.h' \) \( -path '*/tests/*' -o -path '*/hostile/*' \) \
    -not -path "$hand_ins" -print)
  complain "tests of $1 may not include it" < <(includes 'common/' "${files[@]}" | grep -vE "\"common/(${allowed:--}|${tests_use// /|})/")
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

mapfile -t files < <(find common "${labs[@]}" \( -name '*.cpp' -o -name '*.h' \) -print)
complain "only grading may use grading" < <(includes 'grading/' "${files[@]}")
for lab in "${labs[@]}"; do
  mapfile -t files < <(find common "${labs[@]}" \( -name '*.cpp' -o -name '*.h' \) -not -path "$lab/*" -print)
  complain "only $lab and grading may use $lab" < <(includes "$lab/" "${files[@]}")
done

# seam PATTERN WHERE: only files whose path matches WHERE may include PATTERN.
seam() {
  mapfile -t files < <(find . -path ./build -prune -o \( -name '*.cpp' -o -name '*.h' \) -not -path "$hand_ins" -print |
    sed 's|^\./||' | grep -vE "$2")
  complain "$1 is used in $2 only" < <(includes "$1" "${files[@]}")
}
seam 'common/comm/(gloo/|thread/|sim/(backend|engine)|relay/(frame|gathering|hub|payload_tensor)|[a-z_]*_backend)' '^common/comm/'
seam 'gloo/' '^common/comm/(gloo/|tests/gloo_)|^common/bench/|/compile_fail/'
seam 'torch/csrc/distributed' '^common/comm/(gloo/|tests/gloo_)|/compile_fail/'
seam 'mpi\.h[">]' '^common/bench/mpi_peer\.cpp'
seam '(simgrid|xbt)/' '^common/comm/sim/(backend|engine|platform)\.'
seam 'CLI/' '^common/cli/(app|app_names|tests/app_test)\.cpp|^common/launch/supervise/launch_options\.cpp|/main\.cpp'
seam 'stb/' '^common/tensor/files/picture'
seam 'c10/cuda/' '^common/tensor/cuda_memory\.cpp'
seam 'archive(_entry)?\.h[">]' '^common/(base/archive_reader|course/hand_in/archive|testing/archive_builder)'
seam 'pugixml' '^common/(base/junit_xml|testing/junit_schema)\.cpp'
seam 'toml\+\+/' '^common/course/rubric/toml_table\.cpp'
seam 'sodium\.h[">]' '^common/course/rubric/keyed_hash\.cpp'
seam 'kainjow/' '^common/page/template\.cpp'
seam 'doctest/' '^common/testing/'

# gnuplot is a program, so its seam is where its name is used to start it.
mapfile -t files < <(find . -path ./build -prune -o \( -name '*.cpp' -o -name '*.h' \) -print | sed 's|^\./||' |
  grep -vE '^common/plot/')
complain "gnuplot is started in common/plot only" < <(grep -HnE '"([^" ]*/)?gnuplot["; ]' /dev/null "${files[@]}")

# Processes are created in one place. The doctor's probe stands alone, a janitor must outlive its parent, and a judged
# rank is forked before its program begins.
mapfile -t files < <(find . -path ./build -prune -o \( -name '*.cpp' -o -name '*.h' \) -not -path "$hand_ins" -print |
  sed 's|^\./||' | grep -vE '/tests/|^common/(base/subprocess|doctor/|launch/supervise/janitor|rank/start/)')
complain "processes are created in common/base/subprocess only" \
  < <(grep -HnE '(^|[^_[:alnum:]])(v?fork|popen|system|posix_spawnp?)\(' /dev/null "${files[@]}")

# Without tensors: this is why labrun, labcourse and the launcher start in milliseconds.
for folder in base cli log plot page course; do
  mapfile -t files < <(find "common/$folder" \( -name '*.cpp' -o -name '*.h' \) -print)
  complain "common/$folder must not use LibTorch" < <(includes '(ATen|torch|c10)/' "${files[@]}")
done

echo "$offenders offending includes"
[[ $offenders == 0 ]]
