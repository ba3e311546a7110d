#!/usr/bin/env bash
# LibTorch's distributed samplers give each rank a block of the data set; Python's DistributedSampler deals round-robin.
#
# Guess     torch::data::samplers::DistributedSequentialSampler is Python's DistributedSampler with shuffle=False: of ten samples
#           on three ranks rank 0 gets 0 3 6 9. After set_epoch() the next pass is shuffled anew.
# Truth     Rank 0 gets 0 1 2 3, rank 1 4 5 6 7, rank 2 8 9 0 1: blocks, padded from the start. A batch of all ranks holds other
#           samples than in Python, so losses differ from step one. set_epoch() alone changes nothing before reset() is called;
#           Python's has no reset().
# Version   LibTorch 1.13.1 as Debian 12 has it (libtorch1.13 1.13.1+dfsg-4); 2.6.0 of Debian 13 does the same
# Source    samplers/distributed.cpp: a rank's first index is its rank times the samples of a rank; indices are drawn in reset().
# Remedy    A sampler of one's own of five lines; or the same split in Python: a slice instead of a stride.
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
cat >"$root/tmp/cpp_sampler_deals_blocks.cpp" <<'C++'
#include <torch/data/samplers/distributed.h>

#include <cstdio>

using torch::data::samplers::DistributedRandomSampler;
using torch::data::samplers::DistributedSequentialSampler;

template <typename Sampler>
void print(const char* what, Sampler& sampler) {
  std::printf("%s", what);
  if (const auto indices = sampler.next(10))
    for (std::size_t index : *indices) std::printf(" %zu", index);
  std::printf("\n");
}

int main() {
  std::printf("ten samples on three ranks, in order\n");
  for (std::size_t rank = 0; rank < 3; ++rank) {
    DistributedSequentialSampler padded(10, 3, rank, true), cut(10, 3, rank, false);
    print("  with duplicates:", padded);
    print("  without:", cut);
  }
  std::printf("set_epoch(1) on a shuffling sampler of one rank\n");
  DistributedRandomSampler plain(10, 1, 0), without_reset(10, 1, 0), with_reset(10, 1, 0);
  without_reset.set_epoch(1);
  with_reset.set_epoch(1);
  with_reset.reset();
  const auto epoch_0 = *plain.next(10);
  std::printf("  without reset(): %s\n", *without_reset.next(10) == epoch_0 ? "the order of epoch 0" : "another order");
  std::printf("  with reset(): %s\n", *with_reset.next(10) == epoch_0 ? "the order of epoch 0" : "another order");
}
C++
libraries=$root/usr/lib/x86_64-linux-gnu
g++ -std=c++17 -O1 -w -pthread -isystem "$root/usr/include" -isystem "$root/usr/include/torch/csrc/api/include" -o "$root/tmp/cpp_sampler_deals_blocks" \
  "$root/tmp/cpp_sampler_deals_blocks.cpp" "$libraries"/{libtorch_cpu,libc10}.so.1.13 -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(dpkg --field "$folder"/cache/archives/libtorch1.13_*.deb Version)"; inside /tmp/cpp_sampler_deals_blocks || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 1.13.1+dfsg-4
ten samples on three ranks, in order
  with duplicates: 0 1 2 3
  without: 0 1 2
  with duplicates: 4 5 6 7
  without: 3 4 5
  with duplicates: 8 9 0 1
  without: 6 7 8
set_epoch(1) on a shuffling sampler of one rank
  without reset(): the order of epoch 0
  with reset(): another order
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
