#!/usr/bin/env bash
# OpenBLAS cuts OPENBLAS_NUM_THREADS down to the processors it may use, but not openblas_set_num_threads.
#
# Guess     OPENBLAS_NUM_THREADS=4 gives 4 threads, and so does openblas_set_num_threads(4): two ways to say the same.
# Truth     Under an affinity of one processor (a cpuset, taskset, srun's or mpirun's binding) the variable gives 1 whatever it
#           says, so does OMP_NUM_THREADS, and the call gives 4: threads that take turns on one processor. A limit on
#           processor time (a cgroup's cpu.max) is not looked at; only the set of processors is.
# Version   OpenBLAS 0.3.21 as Debian 12 has it (libopenblas0-pthread)
# Source    OpenBLAS's count at start is the smaller of the variable and the processors in the affinity mask; the call only
#           knows the number with which the library was built (64).
# Remedy    A program that sets threads by the call takes the size of its affinity mask as a bound.
# Needs     Debian 12 with gcc and its archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(libopenblas0-pthread=0.3.21+ds-4 coreutils=9.1-1 util-linux=2.38.1-5+deb12u3)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
root=$folder/root
mkdir -p "$folder/cache/archives/partial" "$root"/usr/{bin,sbin,lib,lib64} "$root"/{dev,proc,sys,tmp}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
touch "$folder/status"
apt=(apt-get -qq -y -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
"${apt[@]}" --no-install-recommends -d install "${packages[@]}" >"$folder/log" 2>&1 ||
  { echo "cannot get ${packages[*]}:"; tail -n 5 "$folder/log"; exit 2; } >&2
for package in "$folder"/cache/archives/*.deb; do
  dpkg --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
done
inside() { # COMMAND...: runs it in the unpacked root, with nothing of this machine's but the kernel
  unshare --map-root-user --mount bash -c 'mount --rbind /dev "$0/dev" && mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sys" &&
    exec env -i HOME=/tmp PATH=/usr/bin:/usr/sbin:/sbin LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-pthread chroot "$0" "$@"' "$root" "$@"
}
cat >"$root/tmp/threads.c" <<'C'
#include <stdio.h>
#include <string.h>

int openblas_get_num_threads(void);
void openblas_set_num_threads(int);
char *openblas_get_config(void);

int main(int count, char **arguments) {
  if (count > 1) return printf("version %.15s\n", openblas_get_config()) < 0;
  printf("%d at start", openblas_get_num_threads());
  openblas_set_num_threads(4);
  printf(", %d after openblas_set_num_threads(4)\n", openblas_get_num_threads());
}
C
library=$root/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0
gcc -O1 -o "$root/tmp/threads" "$root/tmp/threads.c" "$library" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
one=$(taskset --cpu-list --pid $$ | sed 's/.*: //; s/[-,].*//')
{
  inside /tmp/threads version
  for setting in OPENBLAS_NUM_THREADS=4 OMP_NUM_THREADS=4 OPENBLAS_NUM_THREADS=1 NONE=0; do
    echo "on one processor, $setting: $(inside env "$setting" taskset --cpu-list "$one" /tmp/threads)"
  done
} | tee "$folder/output"
cat >"$folder/expected" <<'END'
version OpenBLAS 0.3.21
on one processor, OPENBLAS_NUM_THREADS=4: 1 at start, 4 after openblas_set_num_threads(4)
on one processor, OMP_NUM_THREADS=4: 1 at start, 4 after openblas_set_num_threads(4)
on one processor, OPENBLAS_NUM_THREADS=1: 1 at start, 4 after openblas_set_num_threads(4)
on one processor, NONE=0: 1 at start, 4 after openblas_set_num_threads(4)
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
