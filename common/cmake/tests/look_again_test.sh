#!/usr/bin/env bash
# What is optional and was not there is found by the next build once it has been installed, here into LAB_PREFIX.
source "$(dirname -- "$(readlink -f -- "$0")")/../../testing/program_checks.sh"
cached() { sed -n "s/^$1:[^=]*=//p" "$2/CMakeCache.txt"; }
[[ ! $(cached LAB_MPI_LIBRARY "$bin/..") || $(cached LAB_MPI_LIBRARY "$bin/..") == *-NOTFOUND ]] || {
  skip "Open MPI is installed here"
  exit 77
}
build=$scratch/build prefix=$scratch/prefix
mkdir -p "$prefix/lib" "$prefix/include"
# Its libraries as they are found here: a release that was compiled for them is not compiled again.
run cmake -S "${LAB_SOURCE_DIR:?where the sources are}" -B "$build" --preset release -DLAB_PREFIX="$prefix" -DBUILD_TESTING=OFF \
  -DLAB_LIBTORCH="$(cached LAB_LIBTORCH "$bin/..")" -DFETCHCONTENT_FULLY_DISCONNECTED=ON
verdict "$code" "configured without Open MPI"
has_peer() { grep -q '^bench_mpi:' <<<"$(ninja -C "$build" -t targets all)"; }  # not by a pipe, which grep would close early
verdict "$(! has_peer; echo $?)" "... and the peer bench_mpi is left out"
echo '#define OMPI_MAJOR_VERSION 4' >"$prefix/include/mpi.h"
echo 'int MPI_Init(void);' | "${CC:-cc}" -shared -x c -o "$prefix/lib/libmpi.so" -
run ninja -C "$build" build.ninja
verdict "$([[ $code == 0 && $(cached LAB_MPI_LIBRARY "$build") == "$prefix/lib/libmpi.so" ]]; echo $?)" "once it is installed, CMake finds it before the next build"
verdict "$(has_peer; echo $?)" "... and there is the peer"
run ninja -C "$build" build.ninja
verdict "$(! grep -q 'Re-running CMake' "$scratch/out"; echo $?)" "... and looks no more"
finish
