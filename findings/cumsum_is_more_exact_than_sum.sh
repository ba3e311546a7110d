#!/usr/bin/env bash
# The last element of cumsum() is more exact than sum(): float32 is accumulated in double there.
#
# Guess     cumsum() adds one float32 after the other, so its last element has lost most; sum() adds in blocks, and is the better one.
# Truth     On the CPU cumsum carries its running sum in double and rounds each element when it is stored: its last element is the
#           exact sum of ten million times 0.1f, rounded once, while sum() is off by several units in the last place. The two are
#           not equal, so a test that compares them for equality fails, and the reference to trust is the one that looks naive.
# Version   LibTorch 1.13.1 as Debian 12 has it (libtorch1.13 1.13.1+dfsg-4), one thread, kernels without AVX;
#           2.6.0 of Debian 13 does the same
# Source    ATen's cumsum kernel takes the accumulation type of a CPU, double for float; sum's kernel adds float32 in cascades.
# Remedy    sum(at::kDouble) where exactness matters; a tolerance where the two are compared.
# Needs     Debian 12 with g++ and its archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(libtorch1.13=1.13.1+dfsg-4 libopenblas0-pthread=0.3.21+ds-4)
headers=(libtorch-dev=1.13.1+dfsg-4) # without what they depend on
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
    exec env -i HOME=/tmp PATH=/usr/bin:/usr/sbin:/sbin LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-pthread ATEN_CPU_CAPABILITY=default chroot "$0" "$@"' "$root" "$@"
}
cat >"$root/tmp/cumsum_is_more_exact_than_sum.cpp" <<'C++'
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cumprod.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sum.h>

#include <cmath>
#include <cstdio>

int main() {
  at::set_num_threads(1);
  for (long count : {1000l, 100000l, 10000000l}) {
    const at::Tensor values = at::full({count}, 0.1, at::kFloat);
    const float exact = static_cast<float>(static_cast<double>(0.1f) * count);  // one rounding
    const float unit = std::nextafter(exact, INFINITY) - exact;
    const float sum = values.sum().item<float>(), last = values.cumsum(0)[-1].item<float>();
    std::printf("%ld times 0.1f: cumsum's last is %s; sum %s\n", count, last == exact ? "the rounded exact sum" : "not the rounded exact sum",
                sum == exact ? "is too" : "is another number");
    std::printf("  sum is off by %g units in the last place\n", std::abs(sum - exact) / unit);
  }
}
C++
libraries=$root/usr/lib/x86_64-linux-gnu
g++ -std=c++17 -O1 -w -pthread -isystem "$root/usr/include" -isystem "$root/usr/include/torch/csrc/api/include" -o "$root/tmp/cumsum_is_more_exact_than_sum" \
  "$root/tmp/cumsum_is_more_exact_than_sum.cpp" "$libraries"/{libtorch_cpu,libc10}.so.1.13 -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(dpkg --field "$folder"/cache/archives/libtorch1.13_*.deb Version)"; inside /tmp/cumsum_is_more_exact_than_sum || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 1.13.1+dfsg-4
1000 times 0.1f: cumsum's last is the rounded exact sum; sum is another number
  sum is off by 1 units in the last place
100000 times 0.1f: cumsum's last is the rounded exact sum; sum is another number
  sum is off by 1 units in the last place
10000000 times 0.1f: cumsum's last is the rounded exact sum; sum is another number
  sum is off by 9 units in the last place
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
