#!/usr/bin/env bash
# Gloo's reduce to a root overwrites the buffer on the other ranks, too, with sums of some of the ranks.
#
# Guess     gloo::reduce writes the root's output and leaves the others' as it was, as MPI_Reduce does.
# Truth     The other ranks' outputs hold sums of some of the ranks afterwards, parts of them even the whole sum, and parts stay
#           as they were. With an output only (in place) a rank's input is lost like this.
# Version   Gloo of 18 May 2022 as Debian 12 has it (libgloo0 0.0~git20220518.5b14351-3), C++ API
# Source    reduce.cc: a ring reduce-scatter with the output as its working buffer on every rank, then a gather to the root.
# Remedy    On ranks that go on using their input: setInput() with the tensor and setOutput() with a buffer to throw away.
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
cat >"$root/tmp/gloo_reduce_overwrites_every_rank.cpp" <<'C++'
#include "ranks.h"

#include <gloo/math.h>
#include <gloo/reduce.h>

void reduce(bool in_place) {
  for (const Floats& output : on_ranks(4, [&](const std::shared_ptr<gloo::Context>& context) {
         Floats input(6, context->rank + 1.f), output(6, in_place ? context->rank + 1.f : -1.f);
         gloo::ReduceOptions options(context);
         if (!in_place) options.setInput(input.data(), input.size());
         options.setOutput(output.data(), output.size());
         options.setRoot(0);
         options.setReduceFunction([](void* c, const void* a, const void* b, std::size_t n) { gloo::sum<float>(c, a, b, n); });
         gloo::reduce(options);
         return output;
       })) {
    print("  output:", output);
  }
}

int main() {
  std::printf("ranks 0 to 3 have 1, 2, 3, 4; root 0; outputs were -1\n");
  reduce(false);
  std::printf("in place\n");
  reduce(true);
}
C++
dpkg --field "$folder"/cache/archives/libgloo0_*.deb >"$folder/about"
g++ -std=c++17 -O1 -w -pthread -isystem "$root/usr/include" -o "$root/tmp/gloo_reduce_overwrites_every_rank" "$root/tmp/gloo_reduce_overwrites_every_rank.cpp" "$root/usr/lib/libgloo.so.0" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(sed -n "s/^Version: //p" "$folder/about")"; inside /tmp/gloo_reduce_overwrites_every_rank || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 0.0~git20220518.5b14351-3
ranks 0 to 3 have 1, 2, 3, 4; root 0; outputs were -1
  output: 10 10 10 10 10 10
  output: 9 9 10 10 -1 -1
  output: 7 7 8 8 10 10
  output: -1 -1 5 5 7 7
in place
  output: 10 10 10 10 10 10
  output: 9 9 10 10 2 2
  output: 7 7 8 8 10 10
  output: 4 4 5 5 7 7
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
