#!/usr/bin/env bash
# In a C++ autograd Function needs_input_grad(i) counts the tensors among forward's arguments; in Python it counts all arguments.
#
# Guess     ctx->needs_input_grad(1) in C++ asks about forward's second argument, as ctx.needs_input_grad[1] does in Python, and as
#           backward's list of gradients is counted in both.
# Truth     It asks about the second tensor. For forward(ctx, factor, a, count, b), index 0 is a and 1 is b, and 2 and 3 raise, though
#           backward must return four gradients, two of them undefined. A port from Python that keeps its indices asks about
#           the wrong tensor, and skips a gradient that is needed without an error.
# Version   LibTorch 1.13.1 as Debian 12 has it (libtorch1.13 1.13.1+dfsg-4); 2.6.0 of Debian 13 does the same
# Source    custom_function.h: the function looks at the node's edge of that number, and only tensors have edges.
# Remedy    Give tensors first among forward's arguments, then both ways of counting agree.
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
cat >"$root/tmp/needs_input_grad_counts_tensors.cpp" <<'C++'
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdio>

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Combine : torch::autograd::Function<Combine> {
  static at::Tensor forward(AutogradContext*, double factor, at::Tensor a, std::int64_t count, at::Tensor b) {
    return a.mul(factor).add(b.mul(count));
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    for (std::size_t i = 0; i < 4; ++i) {
      try {
        std::printf(" %s", ctx->needs_input_grad(i) ? "yes" : "no");
      } catch (const std::exception&) {
        std::printf(" raises");
      }
    }
    std::printf("\n");
    return {at::Tensor(), gradients[0], at::Tensor(), gradients[0]};
  }
};

int main() {
  const at::Tensor with = at::ones({2}).requires_grad_(), without = at::ones({2});
  std::printf("forward(factor, a, count, b); needs_input_grad(0) to (3)\n");
  std::printf("a needs a gradient:");
  Combine::apply(2.0, with, 3, without).sum().backward();
  std::printf("b needs a gradient:");
  Combine::apply(2.0, without, 3, with).sum().backward();
}
C++
libraries=$root/usr/lib/x86_64-linux-gnu
g++ -std=c++17 -O1 -w -pthread -isystem "$root/usr/include" -isystem "$root/usr/include/torch/csrc/api/include" -o "$root/tmp/needs_input_grad_counts_tensors" \
  "$root/tmp/needs_input_grad_counts_tensors.cpp" "$libraries"/{libtorch_cpu,libc10}.so.1.13 -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(dpkg --field "$folder"/cache/archives/libtorch1.13_*.deb Version)"; inside /tmp/needs_input_grad_counts_tensors || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 1.13.1+dfsg-4
forward(factor, a, count, b); needs_input_grad(0) to (3)
a needs a gradient: yes no raises raises
b needs a gradient: no yes raises raises
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
