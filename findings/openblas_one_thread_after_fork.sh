#!/usr/bin/env bash
# In a forked child, asking OpenBLAS for one thread starts the worker threads that the fork had left behind.
#
# Guess     fork() copies one thread, so a child that calls openblas_set_num_threads(1) has one and keeps it: it asked for one.
#           (LibTorch's set_num_threads reaches OpenBLAS the same way where it is built without OpenMP.)
# Truth     Before the fork OpenBLAS ends its workers, and notes only how many there were. The call starts all of these again
#           in the child, and then lets one thread compute: the child has 4 threads, of which 3 never get work. A child that
#           asks for nothing has 1. So the call that was meant to save threads makes them, in each of P ranks that a launcher
#           forks, and a limit on threads meets them there.
# Version   OpenBLAS 0.3.21 as Debian 12 has it (libopenblas0-pthread)
# Source    OpenBLAS registers what ends its threads with pthread_atfork() for the parent's side only, and its call for the
#           number of threads starts the pool of the earlier size where none runs, before it looks at the number.
# Remedy    Ask for one thread before the fork: the child inherits that, and has 1 also after a product of 512 x 512 matrices.
# Needs     Debian 12 with gcc and its archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(libopenblas0-pthread=0.3.21+ds-4 coreutils=9.1-1)
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
#include <dirent.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

char *openblas_get_config(void);
void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
void openblas_set_num_threads(int);

static int count_threads(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/task");
  for (struct dirent *entry; (entry = readdir(folder)) != 0;) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

int main(void) {
  printf("version %.15s\n", openblas_get_config());
  openblas_set_num_threads(4);
  printf("parent, set to 4: %d threads\n", count_threads());
  for (int asked = 0; asked <= 2; ++asked) {
    fflush(stdout);
    if (fork() == 0) {
      const int before = count_threads();
      if (asked > 0) openblas_set_num_threads(asked);
      if (asked == 0) printf("child that asks for nothing: %d threads\n", before);
      else printf("child that asks for %d: %d threads, then %d\n", asked, before, count_threads());
      fflush(stdout);
      _exit(0);
    }
    wait(0);
  }
  openblas_set_num_threads(1);
  fflush(stdout);
  if (fork() == 0) {
    static float a[512 * 512], b[512 * 512];
    cblas_sgemm(101, 111, 111, 512, 512, 512, 1, a, 512, a, 512, 0, b, 512);
    printf("child of a parent that has asked for 1, after a product: %d threads\n", count_threads());
    fflush(stdout);
    _exit(0);
  }
  wait(0);
  return 0;
}
C
library=$root/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0
gcc -O1 -o "$root/tmp/threads" "$root/tmp/threads.c" "$library" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
inside /tmp/threads | tee "$folder/output"
cat >"$folder/expected" <<'END'
version OpenBLAS 0.3.21
parent, set to 4: 4 threads
child that asks for nothing: 1 threads
child that asks for 1: 1 threads, then 4
child that asks for 2: 1 threads, then 4
child of a parent that has asked for 1, after a product: 1 threads
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
