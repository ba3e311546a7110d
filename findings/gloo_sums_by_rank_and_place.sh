#!/usr/bin/env bash
# Gloo's all-reduces add equal inputs in other orders: AllreduceRing on each rank, gloo::allreduce by place in the buffer.
#
# Guess     An all-reduce leaves the same bits on all ranks, since each part is reduced once and then handed round; the sum of
#           an element depends on its inputs alone; and setMaxSegmentSize(), a knob for speed, changes no bit of it.
# Truth     The class AllreduceRing hands the inputs round, and each rank adds them in an order of its own, starting with its
#           own input: five ranks with 1e8, 1, -1e8, 1, 0.25 get 1, 0, 1.25, 0.25, 0, and replicas of a model that take such
#           sums drift apart. AllreduceRingChunked, AllreduceHalvingDoubling and gloo::allreduce agree on all ranks. But in
#           gloo::allreduce each rank ends up with a run of whole segments, and where a sum starts depends on whose run it is
#           in. The borders lie on multiples of the segment's size, so other segments move them, and elements near a border
#           get another sum. So they do in a longer buffer: the third of three floats has another sum than that of twelve.
# Version   Gloo of 18 May 2022 as Debian 12 has it (libgloo0 0.0~git20220518.5b14351-3), C++ API
# Source    allreduce_ring.h: a rank adds what comes from its left neighbour, and passes on what came, not the sum.
#           allreduce.cc: the number of segments is rounded up to a multiple of the ranks, their size follows from that, and
#           the addition of a segment starts next to the rank that ends up with it. On two ranks nothing can differ.
# Remedy    gloo::allreduce for replicas; compare runs bit for bit only with equal sizes, packing and segments, or take inputs
#           whose sums are exact.
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
cat >"$root/tmp/sums.cpp" <<'C++'
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

using Floats = std::vector<float>;
using Context = std::shared_ptr<gloo::Context>;
const Floats inputs{1e8f, 1.f, -1e8f, 1.f, 0.25f};
constexpr std::size_t kLarge = 1 << 20;

/// An all-reduce of `count` equal elements on each of `size` ranks, a thread each; returns what each rank is left with.
std::vector<Floats> sums_of_ranks(int size, int count, const std::function<void(const Context&, Floats&)>& all_reduce) {
  gloo::rendezvous::HashStore store;
  std::vector<Floats> sums(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      gloo::transport::tcp::attr attributes;
      attributes.iface = "lo";
      auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
      auto device = gloo::transport::tcp::CreateDevice(attributes);
      context->connectFullMesh(store, device);
      sums[rank].assign(count, inputs[rank]);
      all_reduce(context, sums[rank]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return sums;
}

template <typename Algorithm>
void all_reduce_by(const Context& context, Floats& values) {
  Algorithm(context, {values.data()}, values.size()).run();
}

void all_reduce(const Context& context, Floats& values, std::size_t segment_bytes) {
  gloo::AllreduceOptions options(context);
  options.setMaxSegmentSize(segment_bytes);
  options.setOutput(values.data(), values.size());
  options.setReduceFunction([](void* c, const void* a, const void* b, std::size_t n) { gloo::sum<float>(c, a, b, n); });
  gloo::allreduce(options);
}

void print_by_rank(const char* what, const std::function<void(const Context&, Floats&)>& all_reduce) {
  std::printf("  %s:", what);
  for (const Floats& sums : sums_of_ranks(5, 1000, all_reduce)) std::printf(" %g", sums[0]);
  std::printf("\n");
}

/// The sum is 0 or 1, or 1e8 on two ranks: which elements are left with 1?
void print_by_place(int size, int count, std::size_t segment_bytes) {
  const Floats sums =
      sums_of_ranks(size, count, [&](const Context& context, Floats& values) { all_reduce(context, values, segment_bytes); })[0];
  std::printf("  %d ranks, %d elements, segments of %zu bytes:", size, count, segment_bytes);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] != 1 || (i > 0 && sums[i - 1] == 1)) continue;
    std::size_t last = i;
    while (last + 1 < sums.size() && sums[last + 1] == 1) ++last;
    std::printf(" %zu-%zu", i, last);
  }
  std::printf("\n");
}

int main() {
  std::printf("ranks 0 to 4 have 1e8, 1, -1e8, 1, 0.25; the first sum on each\n");
  print_by_rank("AllreduceRing", all_reduce_by<gloo::AllreduceRing<float>>);
  print_by_rank("AllreduceRingChunked", all_reduce_by<gloo::AllreduceRingChunked<float>>);
  print_by_rank("AllreduceHalvingDoubling", all_reduce_by<gloo::AllreduceHalvingDoubling<float>>);
  print_by_rank("gloo::allreduce", [](const Context& context, Floats& values) { all_reduce(context, values, kLarge); });
  std::printf("fewer ranks; elements whose sum by gloo::allreduce is 1\n");
  print_by_place(3, 1000, kLarge);
  print_by_place(3, 1000, 128);
  print_by_place(3, 1000, 64);
  print_by_place(3, 3, kLarge);
  print_by_place(3, 12, kLarge);
  print_by_place(4, 1000, kLarge);
  print_by_place(4, 1000, 64);
  print_by_place(2, 4, kLarge);
}
C++
dpkg --field "$folder"/cache/archives/libgloo0_*.deb >"$folder/about"
g++ -std=c++17 -O1 -w -pthread -isystem "$root/usr/include" -o "$root/tmp/sums" "$root/tmp/sums.cpp" "$root/usr/lib/libgloo.so.0" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(sed -n "s/^Version: //p" "$folder/about")"; inside /tmp/sums || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 0.0~git20220518.5b14351-3
ranks 0 to 4 have 1e8, 1, -1e8, 1, 0.25; the first sum on each
  AllreduceRing: 1 0 1.25 0.25 0
  AllreduceRingChunked: 1.25 1.25 1.25 1.25 1.25
  AllreduceHalvingDoubling: 0.25 0.25 0.25 0.25 0.25
  gloo::allreduce: 0 0 0 0 0
fewer ranks; elements whose sum by gloo::allreduce is 1
  3 ranks, 1000 elements, segments of 1048576 bytes: 334-667
  3 ranks, 1000 elements, segments of 128 bytes: 341-681
  3 ranks, 1000 elements, segments of 64 bytes: 336-671
  3 ranks, 3 elements, segments of 1048576 bytes: 2-2
  3 ranks, 12 elements, segments of 1048576 bytes: 4-7
  4 ranks, 1000 elements, segments of 1048576 bytes: 250-499 750-999
  4 ranks, 1000 elements, segments of 64 bytes: 256-511 768-999
  2 ranks, 4 elements, segments of 1048576 bytes:
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
