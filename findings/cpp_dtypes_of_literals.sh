#!/usr/bin/env bash
# In C++ three ways to make a tensor of the same number give three dtypes, and none of them is always Python's.
#
# Guess     at::tensor({1, 2}), at::scalar_tensor(1), at::full({2}, 1) have the dtype that torch.tensor([1, 2]) has in Python, int64;
#           with 1.5 all have float32.
# Truth     at::tensor keeps C++'s types: {1, 2} is int32 and {1.5, 2.5} float64. at::scalar_tensor is float32 whatever number it
#           gets, at::full follows Python. at::tensor of bools raises. So a sum of a float32 tensor and at::tensor({1.5}) is
#           float64 in C++, and a loss can change its dtype without a word.
# Version   LibTorch 1.13.1 as Debian 12 has it (libtorch1.13 1.13.1+dfsg-4); 2.6.0 of Debian 13 does the same
# Source    at::tensor is a template over the element's type and is not torch::tensor, which converts as Python does;
#           scalar_tensor takes its dtype from the options, not from the value.
# Remedy    Name the dtype: at::tensor({1.5}, at::kFloat).
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
cat >"$root/tmp/cpp_dtypes_of_literals.cpp" <<'C++'
#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>

#include <cstdio>

void print(const char* what, const at::Tensor& tensor) { std::printf("%s: %s\n", what, c10::toString(tensor.scalar_type())); }

int main() {
  print("at::tensor({1, 2})", at::tensor({1, 2}));
  print("at::tensor({1.5, 2.5})", at::tensor({1.5, 2.5}));
  print("at::scalar_tensor(1)", at::scalar_tensor(1));
  print("at::scalar_tensor(1.5)", at::scalar_tensor(1.5));
  print("at::scalar_tensor(true)", at::scalar_tensor(true));
  print("at::full({2}, 1)", at::full({2}, 1));
  print("at::full({2}, 1.5)", at::full({2}, 1.5));
  print("at::full({2}, true)", at::full({2}, true));
  print("at::arange(2)", at::arange(2));
  print("ones + at::tensor({1.5})", at::add(at::ones({1}), at::tensor({1.5})));
  print("ones + 1.5", at::add(at::ones({1}), 1.5));
  try {
    print("at::tensor(true)", at::tensor(true));
  } catch (const c10::Error& error) {
    std::printf("at::tensor(true): raises: %s\n", error.what_without_backtrace());
  }
}
C++
libraries=$root/usr/lib/x86_64-linux-gnu
g++ -std=c++17 -O1 -w -pthread -isystem "$root/usr/include" -isystem "$root/usr/include/torch/csrc/api/include" -o "$root/tmp/cpp_dtypes_of_literals" \
  "$root/tmp/cpp_dtypes_of_literals.cpp" "$libraries"/{libtorch_cpu,libc10}.so.1.13 -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(dpkg --field "$folder"/cache/archives/libtorch1.13_*.deb Version)"; inside /tmp/cpp_dtypes_of_literals || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 1.13.1+dfsg-4
at::tensor({1, 2}): Int
at::tensor({1.5, 2.5}): Double
at::scalar_tensor(1): Float
at::scalar_tensor(1.5): Float
at::scalar_tensor(true): Float
at::full({2}, 1): Long
at::full({2}, 1.5): Float
at::full({2}, true): Bool
at::arange(2): Long
ones + at::tensor({1.5}): Double
ones + 1.5: Float
at::tensor(true): raises: "tensor_cpu" not implemented for 'Bool'
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
