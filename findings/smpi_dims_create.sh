#!/usr/bin/env bash
# SMPI's MPI_Dims_create gives grids that are far from square: 100 ranks become 25 x 2 x 2, 36 become 9 x 4.
#
# Guess     MPI_Dims_create gives what the standard asks for and MPICH and Open MPI give: factors as close to each other as can be,
#           36 is 6 x 6, 72 is 6 x 4 x 3, 100 is 5 x 5 x 4.
# Truth     SMPI distributes prime factors from the largest to the smallest over the smallest dimension so far, and does not look
#           for the best: 36 is 9 x 4, 72 is 9 x 4 x 2, 100 is 25 x 2 x 2, 18 is 9 x 2 and 50 is 25 x 2. Many counts, all powers
#           of two among them, are as expected. A simulated halo exchange has other neighbours and bytes than the real run.
# Version   SimGrid 3.32 as Debian 12 has it (libsimgrid3.32 3.32-2+b2); 4.0 of Debian 13 does the same
# Source    The MPI standard: dimensions "set to be as close to each other as possible"; SMPI's code is the one that Open MPI
#           had long ago.
# Remedy    Hand the dimensions in, as from a table of one's own.
# Needs     Debian 12 with gcc and its archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(libsimgrid3.32=3.32-2+b2)
headers=(libsimgrid-dev=3.32-2+b2) # without what they depend on
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
cat >"$root/tmp/dims.c" <<'C'
#include <mpi.h>
#include <stdio.h>

int main(int count, char **arguments) {
  const int cases[][2] = {{36, 2}, {18, 2}, {50, 2}, {20, 2}, {72, 3}, {100, 3}, {60, 3}, {64, 3}};
  int rank;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; rank == 0 && i < 8; ++i) {
    int dims[3] = {0, 0, 0};
    MPI_Dims_create(cases[i][0], cases[i][1], dims);
    printf("%d in %d dimensions: %d x %d", cases[i][0], cases[i][1], dims[0], dims[1]);
    if (cases[i][1] == 3) printf(" x %d", dims[2]);
    printf("\n");
  }
  MPI_Finalize();
}
C
cat >"$root/tmp/platform.xml" <<'XML'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="125MBps" lat="50us"/></platform>
XML
cat >"$root/tmp/deployment.xml" <<'XML'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <actor host="n0" function="main"><prop id="instance_id" value="smpirun"/><prop id="rank" value="0"/></actor>
  <actor host="n1" function="main"><prop id="instance_id" value="smpirun"/><prop id="rank" value="1"/></actor>
</platform>
XML
library=$root/usr/lib/x86_64-linux-gnu/libsimgrid.so.3.32
gcc -O1 -w -fPIC -shared -include "$root/usr/include/smpi/smpi_helpers.h" -isystem "$root/usr/include" -isystem "$root/usr/include/smpi" \
  -o "$root/tmp/dims" "$root/tmp/dims.c" "$library" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{
  echo "version $(dpkg --field "$folder"/cache/archives/libsimgrid3.32_*.deb Version)"
  # what smpirun runs
  inside /usr/lib/x86_64-linux-gnu/simgrid/smpimain /tmp/dims --cfg=smpi/privatization:1 --cfg=smpi/tmpdir:/tmp --log=root.thres:error \
    /tmp/platform.xml /tmp/deployment.xml
} 2>"$folder/errors" | tee "$folder/output" || { cat "$folder/errors" >&2; exit 2; }
cat >"$folder/expected" <<'END'
version 3.32-2+b2
36 in 2 dimensions: 9 x 4
18 in 2 dimensions: 9 x 2
50 in 2 dimensions: 25 x 2
20 in 2 dimensions: 5 x 4
72 in 3 dimensions: 9 x 4 x 2
100 in 3 dimensions: 25 x 2 x 2
60 in 3 dimensions: 5 x 4 x 3
64 in 3 dimensions: 4 x 4 x 4
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
