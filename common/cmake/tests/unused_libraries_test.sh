#!/usr/bin/env bash
# Programs load the empty libraries in place of those that LibTorch does not use, and lack no symbol.
source "$(dirname -- "$(readlink -f -- "$0")")/../../testing/program_checks.sh"
folder=$(readlink -f -- "$bin/../unused_libraries")
[[ -d $folder ]] || { skip "this LibTorch uses all the libraries that it is linked with"; exit 77; }
programs=$(cd "${LAB_SOURCE_DIR:?where the sources are}" && printf '%s\n' */rubric.toml | sed 's|/.*||')
for program in $programs labgrade; do
  run ldd -r "$bin/$program"
  verdict "$(grep -qE 'undefined symbol|not found|no version information' "$scratch/out" "$scratch/err"; [[ $? == 1 && $code == 0 ]]; echo $?)" "$program lacks no symbol"
  elsewhere=$(for library in "$folder"/*; do grep -qF "${library##*/} => $library " "$scratch/out" || echo "${library##*/}"; done)
  verdict "$([[ ! $elsewhere ]]; echo $?)" "... and loads each empty library${elsewhere:+, but for: $elsewhere}"
done
finish
