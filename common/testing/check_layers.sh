#!/usr/bin/env bash
# Layers depend one way, and every third party has one seam. Greps the includes; prints each offender.
# usage: check_layers.sh SOURCE_DIR
set -uo pipefail
cd "$1" || exit 2
offenders=0

# complain SENTENCE, with the offending lines on standard input
complain() {
  local line
  while IFS= read -r line; do
    echo "$1: $line"
    offenders=$((offenders + 1))
  done
}

sources() { find "$@" \( -name '*.cpp' -o -name '*.h' \) -print; }
includes() { grep -HnE "#include [<\"]$1" /dev/null "${@:2}"; }

# Lowest first; a layer includes itself and what stands before it.
layers=(report course tensor comm launch lab pipeline)
for ((i = 0; i < ${#layers[@]}; ++i)); do
  for ((j = i + 1; j < ${#layers[@]}; ++j)); do
    mapfile -t files < <(sources "common/${layers[i]}")
    complain "common/${layers[i]} must not use common/${layers[j]}" < <(includes "common/${layers[j]}/" "${files[@]}")
  done
done
mapfile -t files < <(sources common ./*_*/)
complain "nobody may use grading" < <(includes 'grading/' "${files[@]}")
labs=(*_*/)
for lab in "${labs[@]%/}"; do
  mapfile -t files < <(sources common)
  complain "common must not use a lab" < <(includes "$lab/" "${files[@]}")
  for other in "${labs[@]%/}"; do
    [[ $lab == "$other" ]] && continue
    mapfile -t files < <(sources "$lab")
    complain "a lab must not use another" < <(includes "$other/" "${files[@]}")
  done
done

# seam PATTERN WHERE: only files whose path matches WHERE may include PATTERN.
seam() {
  mapfile -t files < <(find . -path ./build -prune -o \( -name '*.cpp' -o -name '*.h' \) -print | sed 's|^\./||' | grep -vE "$2")
  complain "$1 is met in $2 only" < <(includes "$1" "${files[@]}")
}
seam 'gloo/' '^common/comm/(tests/)?gloo_backend|^common/bench/|/compile_fail/'
seam 'torch/csrc/distributed' '^common/comm/(tests/)?gloo_backend|/compile_fail/'
seam 'mpi\.h[">]' '^common/bench/mpi_peer\.cpp'
seam '(simgrid|xbt)/' '^common/comm/sim_backend'
seam 'CLI/' '^common/report/(app|app_names|tests/app_test)\.cpp|^common/launch/launch_options\.cpp|/main\.cpp'
seam 'stb/' '^common/tensor/picture'
seam 'c10/cuda/' '^common/tensor/cuda_memory\.cpp'
seam 'archive(_entry)?\.h[">]' '^common/course/(tests/)?archive'
seam 'toml\+\+/' '^common/course/toml_table\.cpp'
seam 'doctest/' '^common/testing/'

# gnuplot is a program, so its seam is its name where it is started.
mapfile -t files < <(find . -path ./build -prune -o \( -name '*.cpp' -o -name '*.h' \) -print | sed 's|^\./||' |
  grep -vE '^common/report/(tests/)?plot')
complain "gnuplot is started in common/report/plot* only" < <(grep -HnE '"([^" ]*/)?gnuplot["; ]' /dev/null "${files[@]}")

# Without tensors: labrun, labcourse and the launcher start in milliseconds because of it.
for layer in report course; do
  mapfile -t files < <(sources "common/$layer")
  complain "common/$layer must not use LibTorch" < <(includes '(ATen|torch|c10)/' "${files[@]}")
done

echo "$offenders offending includes"
[[ $offenders == 0 ]]
