#!/usr/bin/env bash
# OpenBLAS hides NaN: scaling by 0 clears it, and a NaN makes i?amax forget the largest element.
#
# Guess     0 times NaN is NaN in scal as everywhere. iamax with a NaN gives the NaN's index, or that of the largest number.
# Truth     sscal and dscal by 0 leave 0 where NaN and infinities were, so a NaN can vanish in a layer scaled by 0, while gemm
#           with a matrix of zeros keeps it. isamax of 1, NaN, 7, 2 is 0, the index of the 1: neither the NaN nor the 7; the
#           same values further along in a vector of 100 do give the largest number.
# Version   OpenBLAS 0.3.21 as Debian 12 has it (libopenblas0-pthread); with the kernels for Prescott, which all x86-64 run
# Source    Its scal kernels store zeros if the factor is 0; its iamax kernels compare "greater", so a NaN in a lane keeps the
#           lane as it was. The reference BLAS multiplies; for iamax it leaves NaN open.
# Remedy    Look for NaN before, not in the result of a scaling by 0; use zeros on purpose (beta 0 is meant to clear NaN).
# Needs     Debian 12 with gcc and its archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(libopenblas0-pthread=0.3.21+ds-4)
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
    exec env -i HOME=/tmp PATH=/usr/bin:/usr/sbin:/sbin LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-pthread OPENBLAS_CORETYPE=Prescott chroot "$0" "$@"' "$root" "$@"
}
cat >"$root/tmp/nan.c" <<'C'
#include <math.h>
#include <stdio.h>

enum { kRowMajor = 101, kNoTrans = 111 };
char *openblas_get_config(void);
void cblas_sscal(int, float, float *, int);
void cblas_dscal(int, double, double *, int);
size_t cblas_isamax(int, const float *, int);
void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);

int main(void) {
  float x[] = {NAN, 1, INFINITY}, zeros[4] = {0}, b[] = {NAN, 1, 1, 1}, c[4];
  double y[] = {NAN, 1, INFINITY};
  float first[] = {1, NAN, 7, 2}, long_one[100];
  printf("version %.15s\n", openblas_get_config());
  cblas_sscal(3, 0, x, 1);
  cblas_dscal(3, 0, y, 1);
  printf("NaN, 1, infinity scaled by 0: sscal %g %g %g, dscal %g %g %g\n", x[0], x[1], x[2], y[0], y[1], y[2]);
  cblas_sgemm(kRowMajor, kNoTrans, kNoTrans, 2, 2, 2, 1, zeros, 2, b, 2, 0, c, 2);
  printf("zeros times a matrix with a NaN: %s\n", isnan(c[0]) ? "NaN" : "a number");
  printf("isamax of 1 NaN 7 2: index %zu\n", cblas_isamax(4, first, 1));
  for (int i = 0; i < 100; ++i) long_one[i] = i == 50 ? NAN : i;
  printf("isamax of 0 to 99 with NaN in place of 50: index %zu\n", cblas_isamax(100, long_one, 1));
}
C
library=$root/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0
gcc -O1 -o "$root/tmp/nan" "$root/tmp/nan.c" "$library" -lm -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ inside /tmp/nan || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version OpenBLAS 0.3.21
NaN, 1, infinity scaled by 0: sscal 0 0 0, dscal 0 0 0
zeros times a matrix with a NaN: NaN
isamax of 1 NaN 7 2: index 0
isamax of 0 to 99 with NaN in place of 50: index 99
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
