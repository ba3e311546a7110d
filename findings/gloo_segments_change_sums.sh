#!/usr/bin/env bash
# The size of Gloo's segments, a knob for speed, changes the sums of gloo::allreduce; so does packing two tensors into one.
#
# Guess     setMaxSegmentSize() says how finely a buffer is cut for overlap, and changes no bit of the result. The sum of an
#           element of a ring all-reduce depends on its rank's inputs alone, or at most on the element's place in the buffer.
# Truth     Each rank ends up with a run of whole segments, and where a sum starts depends on whose run it is in. The borders
#           of the runs lie on multiples of the segment's size, so other segments move them, and elements near a border get
#           another sum. So they do in a longer buffer: the third of three floats has another sum than the third of twelve.
# Version   Gloo of 18 May 2022 as Debian 12 has it (libgloo0 0.0~git20220518.5b14351-3), C++ API
# Source    allreduce.cc: the number of segments is rounded up to a multiple of the ranks, their size follows from that, and
#           the addition of a segment starts next to the rank that ends up with it. On two ranks nothing can differ.
# Remedy    Compare runs bit for bit only with equal sizes, packing and segments; or take inputs whose sums are exact.
# Needs     Debian 12 with g++ and its archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(libgloo0=0.0~git20220518.5b14351-3)
headers=(libgloo-dev=0.0~git20220518.5b14351-3) # without what they depend on
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
cat >"$root/tmp/ranks.h" <<'C++'
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

using Floats = std::vector<float>;

/// Runs work(context) on each of `size` ranks, a thread each; returns what each returned.
inline std::vector<Floats> on_ranks(int size, const std::function<Floats(const std::shared_ptr<gloo::Context>&)>& work) {
  gloo::rendezvous::HashStore store;
  std::vector<Floats> results(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      gloo::transport::tcp::attr attributes;
      attributes.iface = "lo";
      auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
      auto device = gloo::transport::tcp::CreateDevice(attributes);
      context->connectFullMesh(store, device);
      results[rank] = work(context);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

inline void print(const char* what, const Floats& values) {
  std::printf("%s", what);
  for (float value : values) std::printf(" %g", value);
  std::printf("\n");
}
C++
cat >"$root/tmp/gloo_segments_change_sums.cpp" <<'C++'
#include "ranks.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>

const Floats inputs{1e8f, 1.f, -1e8f, 1.f};

Floats allreduce(int size, int count, std::size_t segment_bytes) {
  return on_ranks(size, [&](const std::shared_ptr<gloo::Context>& context) {
    Floats values(count, inputs[context->rank]);
    gloo::AllreduceOptions options(context);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setMaxSegmentSize(segment_bytes);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction([](void* c, const void* a, const void* b, std::size_t n) { gloo::sum<float>(c, a, b, n); });
    gloo::allreduce(options);
    return values;
  })[0];
}

/// The sum is 0 or 1: which elements have 1?
void print_ones(const char* what, const Floats& sums) {
  std::printf("%s: 1 in", what);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] != 1 || (i > 0 && sums[i - 1] == 1)) continue;
    std::size_t last = i;
    while (last + 1 < sums.size() && sums[last + 1] == 1) ++last;
    std::printf(" %zu-%zu", i, last);
  }
  std::printf("\n");
}

int main() {
  const std::size_t large = 1 << 20;
  print_ones("3 ranks, 1000 elements, large segments", allreduce(3, 1000, large));
  print_ones("3 ranks, 1000 elements, segments of 128 bytes", allreduce(3, 1000, 128));
  print_ones("3 ranks, 1000 elements, segments of 64 bytes", allreduce(3, 1000, 64));
  print_ones("3 ranks, 3 elements", allreduce(3, 3, large));
  print_ones("3 ranks, 12 elements", allreduce(3, 12, large));
  print_ones("4 ranks, 1000 elements, large segments", allreduce(4, 1000, large));
  print_ones("4 ranks, 1000 elements, segments of 64 bytes", allreduce(4, 1000, 64));
  print("2 ranks, 4 elements:", allreduce(2, 4, large));
}
C++
dpkg --field "$folder"/cache/archives/libgloo0_*.deb >"$folder/about"
g++ -std=c++17 -O1 -w -pthread -isystem "$root/usr/include" -o "$root/tmp/gloo_segments_change_sums" "$root/tmp/gloo_segments_change_sums.cpp" "$root/usr/lib/libgloo.so.0" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(sed -n "s/^Version: //p" "$folder/about")"; inside /tmp/gloo_segments_change_sums || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 0.0~git20220518.5b14351-3
3 ranks, 1000 elements, large segments: 1 in 334-667
3 ranks, 1000 elements, segments of 128 bytes: 1 in 341-681
3 ranks, 1000 elements, segments of 64 bytes: 1 in 336-671
3 ranks, 3 elements: 1 in 2-2
3 ranks, 12 elements: 1 in 4-7
4 ranks, 1000 elements, large segments: 1 in 250-499 750-999
4 ranks, 1000 elements, segments of 64 bytes: 1 in 256-511 768-999
2 ranks, 4 elements: 1e+08 1e+08 1e+08 1e+08
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
