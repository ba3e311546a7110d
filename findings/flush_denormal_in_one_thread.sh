#!/usr/bin/env bash
# Flushing denormal numbers to zero counts only for the thread that asked: half of a tensor is flushed, half is not.
#
# Guess     at::globalContext().setFlushDenormal(true), Python's torch.set_flush_denormal(True), is a setting of the process: once
#           it is on, no element of a product is denormal.
# Truth     It sets a flag of the calling thread's processor state. Threads of the pool that exist already keep theirs: with two
#           threads the part that the caller computes is flushed, the other part is not, and where the border lies depends
#           on size and threads. Asked for before the first parallel operation, it is inherited, and holds everywhere.
# Version   LibTorch 1.13.1 as Debian 12 has it (libtorch1.13 1.13.1+dfsg-4), x86-64; 2.6.0 of Debian 13 does the same
# Source    c10's function sets two bits of MXCSR, which each thread has of its own and a new thread copies from its creator;
#           the documentation says "CPU", not which threads.
# Remedy    Set it first in main(), before any operation; or in each thread, as a first task of a parallel_for.
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
    exec env -i HOME=/tmp PATH=/usr/bin:/usr/sbin:/sbin LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-pthread chroot "$0" "$@"' "$root" "$@"
}
cat >"$root/tmp/flush_denormal_in_one_thread.cpp" <<'C++'
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>

#include <cstdio>
#include <cstring>

/// Multiplies 200,000 denormal numbers by 1, and says where the results are not 0.
void multiply(const char* when, const at::Tensor& denormals) {
  const at::Tensor product = denormals.mul(1.0);
  long kept = 0, first = -1;
  for (long i = 0; i < product.numel(); ++i) {
    unsigned bits;  // a comparison of floats would flush, too
    std::memcpy(&bits, product.data_ptr<float>() + i, sizeof bits);
    if (bits == 0) continue;
    if (kept++ == 0) first = i;
  }
  std::printf("%s: %ld of %ld are still denormal", when, kept, product.numel());
  if (kept > 0) std::printf(", from element %ld on", first);
  std::printf("\n");
}

int main(int count, char**) {
  at::set_num_threads(2);
  const at::Tensor denormals = at::empty({200000}, at::kFloat);
  const unsigned denormal = 71362;  // the bits of 1e-40
  for (long i = 0; i < denormals.numel(); ++i) std::memcpy(denormals.data_ptr<float>() + i, &denormal, sizeof denormal);
  if (count == 1) multiply("before", denormals);  // starts the pool
  at::globalContext().setFlushDenormal(true);
  multiply(count == 1 ? "flushing asked for after a parallel operation" : "flushing asked for first", denormals);
}
C++
libraries=$root/usr/lib/x86_64-linux-gnu
g++ -std=c++17 -O1 -w -pthread -isystem "$root/usr/include" -isystem "$root/usr/include/torch/csrc/api/include" -o "$root/tmp/flush_denormal_in_one_thread" \
  "$root/tmp/flush_denormal_in_one_thread.cpp" "$libraries"/{libtorch_cpu,libc10}.so.1.13 -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(dpkg --field "$folder"/cache/archives/libtorch1.13_*.deb Version)"; inside /tmp/flush_denormal_in_one_thread || echo "ended with $?"; inside /tmp/flush_denormal_in_one_thread first || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 1.13.1+dfsg-4
before: 200000 of 200000 are still denormal, from element 0 on
flushing asked for after a parallel operation: 100000 of 200000 are still denormal, from element 100000 on
flushing asked for first: 0 of 200000 are still denormal
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
