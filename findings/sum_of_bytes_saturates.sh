#!/usr/bin/env bash
# Open MPI's MPI_SUM of 8- and 16-bit integers saturates in one part of a buffer and wraps in the rest.
#
# Guess     MPI_SUM of MPI_UINT8_T is C's unsigned addition: 200 + 100 gives 44 in every element. Or, if somebody thought of
#           saturation, 255 in every element. The result of an element does not depend on how many there are.
# Truth     With at least 16 bytes the part that fits into vectors saturates (255) and the tail that does not wraps (44), so
#           an element's value depends on the buffer's length. So it is for signed and for 16-bit integers, in every
#           collective that reduces. 32 and 64 bits wrap. Without the component that uses vectors, everything wraps.
# Version   Open MPI 4.1.4 as Debian 12 has it; 5.0.7 of Debian 13 does the same. MPICH 4.0.2 and 4.2.1 wrap everywhere.
# Source    Open MPI's op component "avx": for 8 and 16 bits its sum is the processor's saturating vector addition, and its
#           loop over the tail is C's plus. The MPI standard says only "sum".
# Remedy    Reduce bytes and shorts as 32-bit integers, or `--mca op ^avx`.
# Needs     Debian 12's archive among apt's sources; x86-64 with AVX; everything goes into a temporary folder.
set -euo pipefail
packages=(openmpi-bin=4.1.4-3+b1)
headers=(libopenmpi-dev=4.1.4-3+b1) # without what they depend on
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
cat >"$root/tmp/sum.c" <<'C'
#include <mpi.h>
#include <stdio.h>

// Each element of rank 0 is 200, of rank 1 100; how many of the sums are what?
#define SUMS(type, mpi_type, first, second, wrapped, saturated)                       \
  for (int k = 0; k < 6; ++k) {                                                       \
    type in[64], out[64];                                                             \
    int wraps = 0, saturates = 0;                                                     \
    for (int i = 0; i < 64; ++i) in[i] = (type)(rank == 0 ? first : second);          \
    MPI_Allreduce(in, out, counts[k], mpi_type, MPI_SUM, MPI_COMM_WORLD);             \
    for (int i = 0; i < counts[k]; ++i) {                                             \
      wraps += out[i] == (type)wrapped;                                               \
      saturates += out[i] == (type)saturated;                                         \
    }                                                                                 \
    if (rank == 0) printf("%-12s %2d elements: %2d saturated, %2d wrapped\n", #mpi_type, counts[k], saturates, wraps); \
  }

int main(void) {
  const int counts[] = {1, 7, 15, 16, 31, 64};
  int rank, length;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Get_library_version(version, &length);
  if (rank == 0) printf("version %.15s\n", version);
  SUMS(unsigned char, MPI_UINT8_T, 200, 100, 44, 255)
  SUMS(short, MPI_SHORT, 30000, 30000, -5536, 32767)
  SUMS(unsigned, MPI_UINT32_T, 4000000000u, 1000000000u, 705032704u, 4294967295u)
  MPI_Finalize();
}
C
libraries=$root/usr/lib/x86_64-linux-gnu
gcc -O1 -I"$libraries/openmpi/include" -o "$root/tmp/sum" "$root/tmp/sum.c" "$libraries/openmpi/lib/libmpi.so" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
sum() { inside mpirun.openmpi --allow-run-as-root --oversubscribe --mca btl self,vader "$@" -n 2 /tmp/sum 2>"$folder/errors" || { cat "$folder/errors" >&2; exit 2; }; }
{ sum; echo "without the component avx"; sum --mca op ^avx | grep UINT8; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version Open MPI v4.1.4
MPI_UINT8_T   1 elements:  0 saturated,  1 wrapped
MPI_UINT8_T   7 elements:  0 saturated,  7 wrapped
MPI_UINT8_T  15 elements:  0 saturated, 15 wrapped
MPI_UINT8_T  16 elements: 16 saturated,  0 wrapped
MPI_UINT8_T  31 elements: 16 saturated, 15 wrapped
MPI_UINT8_T  64 elements: 64 saturated,  0 wrapped
MPI_SHORT     1 elements:  0 saturated,  1 wrapped
MPI_SHORT     7 elements:  0 saturated,  7 wrapped
MPI_SHORT    15 elements:  8 saturated,  7 wrapped
MPI_SHORT    16 elements: 16 saturated,  0 wrapped
MPI_SHORT    31 elements: 24 saturated,  7 wrapped
MPI_SHORT    64 elements: 64 saturated,  0 wrapped
MPI_UINT32_T  1 elements:  0 saturated,  1 wrapped
MPI_UINT32_T  7 elements:  0 saturated,  7 wrapped
MPI_UINT32_T 15 elements:  0 saturated, 15 wrapped
MPI_UINT32_T 16 elements:  0 saturated, 16 wrapped
MPI_UINT32_T 31 elements:  0 saturated, 31 wrapped
MPI_UINT32_T 64 elements:  0 saturated, 64 wrapped
without the component avx
MPI_UINT8_T   1 elements:  0 saturated,  1 wrapped
MPI_UINT8_T   7 elements:  0 saturated,  7 wrapped
MPI_UINT8_T  15 elements:  0 saturated, 15 wrapped
MPI_UINT8_T  16 elements:  0 saturated, 16 wrapped
MPI_UINT8_T  31 elements:  0 saturated, 31 wrapped
MPI_UINT8_T  64 elements:  0 saturated, 64 wrapped
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
