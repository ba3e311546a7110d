#!/usr/bin/env bash
# libseccomp's rules have no order: neither the first nor the last that fits wins, and a range in one rule is an error.
#
# Guess     Rules are tried in the order in which they were added, or the newest wins; a rule may test one argument twice, for a
#           range; a rule that says the default action again is harmless.
# Truth     Of three rules for one call that all fit, the second is taken, and with other arguments the third: conditions are
#           sorted into one tree by argument and value. A rule without conditions replaces the ones with, whatever was added
#           first, and no error says so. Two tests of one argument in a rule: EINVAL. The default action: EACCES.
# Version   libseccomp 2.5.4 as Debian 12 has it
# Source    Its manual page says that the order does not matter and is up to the library, and names EACCES and EINVAL; the
#           tree is in the filter's database. (bubblewrap takes the program that seccomp_export_bpf writes as it is.)
# Remedy    Conditions of one call that exclude each other; a range as two filters, or as one masked comparison.
# Needs     Debian 12 with gcc and its archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(libseccomp2=2.5.4-1+deb12u1)
headers=(libseccomp-dev=2.5.4-1+deb12u1) # without what they depend on
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
cat >"$root/tmp/rules.c" <<'C'
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *said(int result) { return result == 0 ? "accepted" : strerrorname_np(-result); }

int main(void) {
  const struct scmp_version *version = seccomp_version();
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  printf("version %u.%u.%u\n", version->major, version->minor, version->micro);
  printf("socket with 2 <= argument 0 <= 5: %s\n", said(seccomp_rule_add(filter, SCMP_ACT_ERRNO(1), SCMP_SYS(socket), 2,
                                                           SCMP_A0(SCMP_CMP_GE, 2), SCMP_A0(SCMP_CMP_LE, 5))));
  printf("the default action again: %s\n", said(seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 0)));
  printf("getpgid(0) is error 11: %s\n", said(seccomp_rule_add(filter, SCMP_ACT_ERRNO(11), SCMP_SYS(getpgid), 1, SCMP_A0(SCMP_CMP_EQ, 0))));
  printf("getpgid() is error 12: %s\n", said(seccomp_rule_add(filter, SCMP_ACT_ERRNO(12), SCMP_SYS(getpgid), 0)));
  seccomp_rule_add(filter, SCMP_ACT_ERRNO(21), SCMP_SYS(getpriority), 1, SCMP_A0(SCMP_CMP_EQ, 0));
  seccomp_rule_add(filter, SCMP_ACT_ERRNO(22), SCMP_SYS(getpriority), 1, SCMP_A1(SCMP_CMP_EQ, 0));
  seccomp_rule_add(filter, SCMP_ACT_ERRNO(23), SCMP_SYS(getpriority), 1, SCMP_A0(SCMP_CMP_LE, 5));
  printf("loading: %s\n", said(seccomp_load(filter)));
  syscall(SYS_getpgid, 0);
  printf("getpgid(0): error %d\n", errno);
  printf("getpriority(a, b): error 21 if a == 0, 22 if b == 0, 23 if a <= 5\n");
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      syscall(SYS_getpriority, a, b);
      printf("  getpriority(%d, %d): error %d\n", a, b, errno);
    }
  }
  return 0;
}
C
gcc -O1 -w -D_GNU_SOURCE -isystem "$root/usr/include" -o "$root/tmp/rules" "$root/tmp/rules.c" \
  "$root"/usr/lib/x86_64-linux-gnu/libseccomp.so.2 || exit 2
{ inside /tmp/rules || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 2.5.4
socket with 2 <= argument 0 <= 5: EINVAL
the default action again: EACCES
getpgid(0) is error 11: accepted
getpgid() is error 12: accepted
loading: accepted
getpgid(0): error 12
getpriority(a, b): error 21 if a == 0, 22 if b == 0, 23 if a <= 5
  getpriority(0, 0): error 22
  getpriority(0, 1): error 21
  getpriority(1, 0): error 22
  getpriority(1, 1): error 23
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
