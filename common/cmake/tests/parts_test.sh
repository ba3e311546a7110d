#!/usr/bin/env bash
# A folder with LibTorch that also has headers of fmt, as a wheel's has: these are not taken for those of the system's
# library, which is of another version. Configures only; nothing is downloaded.
source "$(dirname -- "$(readlink -f -- "$0")")/../../testing/program_checks.sh"
cached() { sed -n "s/^$1:[^=]*=//p" "$bin/../CMakeCache.txt"; }
include=$(cached LAB_TORCH_INCLUDE)
wheel=$scratch/wheel
mkdir -p "$wheel/include/fmt" "$wheel/lib"
for folder in ATen c10 caffe2 torch; do [[ ! -d $include/$folder ]] || ln -s "$include/$folder" "$wheel/include/"; done
for library in "$(cached LAB_TORCH_CPU_LIBRARY)" "$(cached LAB_C10_LIBRARY)"; do ln -s "$library" "$wheel/lib/"; done
echo '#error these are the headers of LibTorch' >"$wheel/include/fmt/format.h"
run cmake -S "${LAB_SOURCE_DIR:?where the sources are}" -B "$scratch/build" --preset release -DLAB_LIBTORCH="$wheel" \
  -DFETCHCONTENT_FULLY_DISCONNECTED=ON
parts=$scratch/build/parts.txt
verdict "$([[ $code != 0 ]]; echo $?)" "nothing is built with one version's headers and another's library"
verdict "$(grep -qE "^missing	fmt	(fmt/format.h was found in $wheel/include, but the library in /|libfmt was not found)" "$parts"; echo $?)" \
  "... but fmt compiled here, and why: $(grep -P '\tfmt\t' "$parts")"
verdict "$(grep -qE "^ok	torch	[0-9]+[.][0-9.]+ in $wheel/include" "$parts"; echo $?)" "LibTorch is that of the folder, and its version is known"
finish
