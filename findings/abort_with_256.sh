#!/usr/bin/env bash
# A run that MPI_Abort ended can have exit code 0.
#
# Guess     mpirun's exit code is never 0 after MPI_Abort: the code handed to it, or 1 if that doesn't fit.
# Truth     Open MPI and MPICH both hand the code to exit(), which keeps eight bits: MPI_Abort(comm, 256) makes mpirun end
#           with 0, so a script or CI takes the run for a good one. 512 gives 0, too, and 257 gives 1.
# Version   MPICH 4.0.2 and Open MPI 4.1.4 as Debian 12 has them; 4.2.1 and 5.0.7 of Debian 13 do the same
# Source    The MPI standard makes no promise about the code; POSIX's wait status carries the low eight bits of exit's argument.
# Remedy    Pass codes from 1 to 125 to MPI_Abort, never an errno times something, a count or a bit above the eighth.
# Needs     Debian 12 with gcc and its archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(mpich=4.0.2-3+b1 openmpi-bin=4.1.4-3+b1)
headers=(libmpich-dev=4.0.2-3+b1 libopenmpi-dev=4.1.4-3+b1) # without what they depend on
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
root=$folder/root
mkdir -p "$folder/cache/archives/partial" "$root"/usr/{bin,sbin,lib,lib64} "$root"/{dev,proc,sys,tmp}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
touch "$folder/status"
apt=(apt-get -qq -y -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
"${apt[@]}" --no-install-recommends -d install "${packages[@]}" >"$folder/log" 2>&1 ||
  { echo "cannot get ${packages[*]}:"; tail -n 5 "$folder/log"; exit 2; } >&2
(cd "$folder/cache/archives" && "${apt[@]}" download "${headers[@]}") >"$folder/log" 2>&1 ||
  { echo "cannot get ${headers[*]}:"; tail -n 5 "$folder/log"; exit 2; } >&2
for package in "$folder"/cache/archives/*.deb; do
  dpkg --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
done
inside() { # COMMAND...: runs it in the unpacked root, with nothing of this machine's but the kernel
  unshare --map-root-user --mount bash -c 'mount --rbind /dev "$0/dev" && mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sys" &&
    exec env -i HOME=/tmp PATH=/usr/bin:/usr/sbin:/sbin chroot "$0" "$@"' "$root" "$@"
}
cat >"$root/tmp/abort.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  int rank, length, end = 0;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Get_library_version(version, &length);
  while (version[end] != '\n' && version[end] != ',') ++end;
  if (count == 1) {
    if (rank == 0) printf("version %.*s\n", end, version);
    MPI_Finalize();
    return 0;
  }
  if (rank == 1) MPI_Abort(MPI_COMM_WORLD, atoi(arguments[1]));
  MPI_Barrier(MPI_COMM_WORLD);  // the others wait here until they are ended
  MPI_Finalize();
}
C
libraries=$root/usr/lib/x86_64-linux-gnu
gcc -O1 -I"$libraries/mpich/include" -o "$root/tmp/mpich" "$root/tmp/abort.c" "$libraries/libmpich.so" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
gcc -O1 -I"$libraries/openmpi/include" -o "$root/tmp/openmpi" "$root/tmp/abort.c" "$libraries/openmpi/lib/libmpi.so" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
mpich() { inside mpirun.mpich -n 2 /tmp/mpich "$@"; }
openmpi() { inside mpirun.openmpi --allow-run-as-root --oversubscribe --mca btl self,vader -n 2 /tmp/openmpi "$@"; }
for mpi in mpich openmpi; do
  $mpi 2>/dev/null
  for code in 3 256 257 512; do
    ended=0
    $mpi $code >/dev/null 2>&1 || ended=$?
    echo "MPI_Abort with $code: mpirun's exit code $ended"
  done
done </dev/null | sed 's/ Version:\t/ /' | tee "$folder/output"
cat >"$folder/expected" <<'END'
version MPICH 4.0.2
MPI_Abort with 3: mpirun's exit code 3
MPI_Abort with 256: mpirun's exit code 0
MPI_Abort with 257: mpirun's exit code 1
MPI_Abort with 512: mpirun's exit code 0
version Open MPI v4.1.4
MPI_Abort with 3: mpirun's exit code 3
MPI_Abort with 256: mpirun's exit code 0
MPI_Abort with 257: mpirun's exit code 1
MPI_Abort with 512: mpirun's exit code 0
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
