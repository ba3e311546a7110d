#!/usr/bin/env bash
# at::set_num_threads() reaches the caller and threads that have not computed yet, not threads that have.
#
# Guess     at::set_num_threads(1), Python's torch.set_num_threads(1), holds for the process from then on: every thread's operators
#           then use one thread.
# Truth     A thread that asked or computed before keeps its number for good: after main's set_num_threads(1) it still says
#           and uses 2. A new thread gets 1. And a worker's set_num_threads(3) is not seen by main, but by threads born later.
#           Where ranks are threads of one process, each has to set its own.
# Version   LibTorch 1.13.1 as Debian 12 has it (libtorch1.13 1.13.1+dfsg-4), which uses OpenMP;
#           2.6.0 of Debian 13 does the same
# Source    ATen keeps the number in an atomic that a thread reads once, when it first needs it, and hands it to OpenMP, whose
#           number of threads belongs to the calling thread.
# Remedy    Set it in main() before threads start, and in each thread that outlives a change.
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
cat >"$root/tmp/num_threads_of_old_threads.cpp" <<'C++'
#include <ATen/Parallel.h>

#include <cstdio>
#include <future>
#include <mutex>
#include <set>
#include <thread>

/// Threads that a parallel loop really uses, here.
std::size_t used() {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  at::parallel_for(0, 1000, 1, [&](int64_t, int64_t) {
    const std::lock_guard<std::mutex> lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  return ids.size();
}

void print(const char* who) { std::printf("%s: get_num_threads() %d, a loop uses %zu\n", who, at::get_num_threads(), used()); }

int main() {
  at::set_num_threads(2);
  print("main after its set_num_threads(2)");
  std::promise<void> started, changed;
  std::thread old([&] {
    print("a thread");
    started.set_value();
    changed.get_future().wait();
    print("the same thread after main's set_num_threads(1)");
  });
  started.get_future().wait();
  at::set_num_threads(1);
  changed.set_value();
  old.join();
  std::thread([] { print("a new thread after it"); }).join();
  std::thread([] { at::set_num_threads(3); }).join();
  print("main after another thread's set_num_threads(3)");
  std::thread([] { print("a new thread after that"); }).join();
}
C++
libraries=$root/usr/lib/x86_64-linux-gnu
g++ -std=c++17 -O1 -w -fopenmp -pthread -isystem "$root/usr/include" -isystem "$root/usr/include/torch/csrc/api/include" -o "$root/tmp/num_threads_of_old_threads" \
  "$root/tmp/num_threads_of_old_threads.cpp" "$libraries"/{libtorch_cpu,libc10}.so.1.13 -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(dpkg --field "$folder"/cache/archives/libtorch1.13_*.deb Version)"; inside /tmp/num_threads_of_old_threads || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 1.13.1+dfsg-4
main after its set_num_threads(2): get_num_threads() 2, a loop uses 2
a thread: get_num_threads() 2, a loop uses 2
the same thread after main's set_num_threads(1): get_num_threads() 2, a loop uses 2
a new thread after it: get_num_threads() 1, a loop uses 1
main after another thread's set_num_threads(3): get_num_threads() 1, a loop uses 1
a new thread after that: get_num_threads() 3, a loop uses 3
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
