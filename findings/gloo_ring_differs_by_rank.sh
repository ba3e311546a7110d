#!/usr/bin/env bash
# Gloo's AllreduceRing leaves sums on the ranks that differ: an all-reduce whose result is not the same everywhere.
#
# Guess     Every all-reduce of Gloo leaves the same bits on all ranks: each part is reduced once and then handed round.
# Truth     The class AllreduceRing hands the inputs round, and each rank adds them in an order of its own, starting with its
#           own input: five ranks with 1e8, 1, -1e8, 1, 0.25 get 1, 0, 1.25, 0.25, 0. Replicas of a model that take such a
#           sum each drift apart. AllreduceRingChunked, AllreduceHalvingDoubling and the function gloo::allreduce agree.
# Version   Gloo of 18 May 2022 as Debian 12 has it (libgloo0 0.0~git20220518.5b14351-3), C++ API
# Source    allreduce_ring.h: a rank adds what comes from its left neighbour, and passes on what came, not the sum.
# Remedy    gloo::allreduce, which reduces each chunk on one rank.
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
cat >"$root/tmp/gloo_ring_differs_by_rank.cpp" <<'C++'
#include "ranks.h"

#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/math.h>

const Floats inputs{1e8f, 1.f, -1e8f, 1.f, 0.25f};
constexpr int kCount = 1000;

template <typename Algorithm>
void run(const char* what) {
  Floats firsts;
  for (const Floats& sums : on_ranks(5, [](const std::shared_ptr<gloo::Context>& context) {
         Floats values(kCount, inputs[context->rank]);
         Algorithm(context, {values.data()}, kCount).run();
         return values;
       })) {
    firsts.push_back(sums[0]);
  }
  print(what, firsts);
}

int main() {
  print("inputs of ranks 0 to 4:", inputs);
  run<gloo::AllreduceRing<float>>("AllreduceRing:");
  run<gloo::AllreduceRingChunked<float>>("AllreduceRingChunked:");
  run<gloo::AllreduceHalvingDoubling<float>>("AllreduceHalvingDoubling:");
  Floats firsts;
  for (const Floats& sums : on_ranks(5, [](const std::shared_ptr<gloo::Context>& context) {
         Floats values(kCount, inputs[context->rank]);
         gloo::AllreduceOptions options(context);
         options.setOutput(values.data(), values.size());
         options.setReduceFunction([](void* c, const void* a, const void* b, std::size_t n) { gloo::sum<float>(c, a, b, n); });
         gloo::allreduce(options);
         return values;
       })) {
    firsts.push_back(sums[0]);
  }
  print("gloo::allreduce:", firsts);
}
C++
dpkg --field "$folder"/cache/archives/libgloo0_*.deb >"$folder/about"
g++ -std=c++17 -O1 -w -pthread -isystem "$root/usr/include" -o "$root/tmp/gloo_ring_differs_by_rank" "$root/tmp/gloo_ring_differs_by_rank.cpp" "$root/usr/lib/libgloo.so.0" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(sed -n "s/^Version: //p" "$folder/about")"; inside /tmp/gloo_ring_differs_by_rank || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 0.0~git20220518.5b14351-3
inputs of ranks 0 to 4: 1e+08 1 -1e+08 1 0.25
AllreduceRing: 1 0 1.25 0.25 0
AllreduceRingChunked: 1.25 1.25 1.25 1.25 1.25
AllreduceHalvingDoubling: 0.25 0.25 0.25 0.25 0.25
gloo::allreduce: 0 0 0 0 0
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
