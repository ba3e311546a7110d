#!/usr/bin/env bash
# MPI_Allreduce with MPI_MAX and one NaN: ranks of MPICH get different results, and on Open MPI all get a wrong maximum.
#
# Guess     Of -0, NaN and numbers, MPI_MAX gives either NaN or the greatest number, the same on every rank.
# Truth     MPICH: whether a rank gets the maximum, NaN, or a smaller number depends on the rank. Open MPI: every rank gets the
#           same, but it is neither NaN nor the maximum where the NaN's neighbour has it: here rank 3's 3 is lost.
#           MPI_MIN is the same. With zeros of both signs MPICH's ranks disagree about the sign.
# Version   MPICH 4.0.2 and Open MPI 4.1.4 as Debian 12 has them; 4.2.1 and 5.0.7 of Debian 13 do the same
# Source    Both compute a > b ? a : b (or the reverse), which with a NaN is neither commutative nor associative; in recursive
#           doubling each rank combines the operands in an order of its own, and only commutativity makes the results equal.
#           The MPI standard only asks for equal results "whenever the function is applied on the same arguments, in order".
# Remedy    Reduce a flag "I have a NaN" next to the maximum, as one integer.
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
cat >"$root/tmp/max.c" <<'C'
#include <math.h>
#include <mpi.h>
#include <stdio.h>

static int rank;

static void reduce_and_print(const char *what, float mine, MPI_Op op) {
  float result, all[4];
  MPI_Allreduce(&mine, &result, 1, MPI_FLOAT, op, MPI_COMM_WORLD);
  MPI_Gather(&result, 1, MPI_FLOAT, all, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  printf("%s:", what);
  for (int i = 0; i < 4; ++i) printf(isnan(all[i]) ? " nan" : " %g", all[i]);
  printf("\n");
}

int main(void) {
  int length, end = 0;
  char version[MPI_MAX_LIBRARY_VERSION_STRING], what[40];
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Get_library_version(version, &length);
  while (version[end] != '\n' && version[end] != ',') ++end;
  if (rank == 0) printf("version %.*s\n", end, version);
  for (int nan_rank = 0; nan_rank < 4; ++nan_rank) {
    sprintf(what, "max of 0 1 2 3, NaN on rank %d", nan_rank);
    reduce_and_print(what, rank == nan_rank ? NAN : rank, MPI_MAX);
  }
  reduce_and_print("min of 0 1 2 3, NaN on rank 0", rank == 0 ? NAN : rank, MPI_MIN);
  reduce_and_print("max of -0 0 -0 0", rank % 2 ? 0.f : -0.f, MPI_MAX);
  MPI_Finalize();
}
C
libraries=$root/usr/lib/x86_64-linux-gnu
gcc -O1 -I"$libraries/mpich/include" -o "$root/tmp/mpich" "$root/tmp/max.c" "$libraries/libmpich.so" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
gcc -O1 -I"$libraries/openmpi/include" -o "$root/tmp/openmpi" "$root/tmp/max.c" "$libraries/openmpi/lib/libmpi.so" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{
  inside mpirun.mpich -n 4 /tmp/mpich
  inside mpirun.openmpi --allow-run-as-root --oversubscribe --mca btl self,vader -n 4 /tmp/openmpi
} </dev/null 2>"$folder/errors" | sed 's/ Version:\t/ /' | tee "$folder/output" || { cat "$folder/errors" >&2; exit 2; }
cat >"$folder/expected" <<'END'
version MPICH 4.0.2
max of 0 1 2 3, NaN on rank 0: 3 3 3 nan
max of 0 1 2 3, NaN on rank 1: 3 3 nan 3
max of 0 1 2 3, NaN on rank 2: 3 nan 3 1
max of 0 1 2 3, NaN on rank 3: nan 2 1 2
min of 0 1 2 3, NaN on rank 0: 1 2 1 nan
max of -0 0 -0 0: 0 -0 0 -0
version Open MPI v4.1.4
max of 0 1 2 3, NaN on rank 0: nan nan nan nan
max of 0 1 2 3, NaN on rank 1: 3 3 3 3
max of 0 1 2 3, NaN on rank 2: 1 1 1 1
max of 0 1 2 3, NaN on rank 3: 2 2 2 2
min of 0 1 2 3, NaN on rank 0: nan nan nan nan
max of -0 0 -0 0: -0 -0 -0 -0
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
