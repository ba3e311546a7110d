#!/usr/bin/env bash
# SimGrid: of actors that wake at the same instant the last created runs first, and a wait that lasts exactly its time-out fails.
#
# Guess     Actors that sleep until the same instant run in the order of their creation (or of their calls). wait_for(1.0) on a
#           computation that takes exactly 1 s returns: it is done at 1.0, not later.
# Truth     Four sleepers of 1 s wake in the order 3, 2, 1, 0. wait_for(1.0) throws TimeoutException, though the computation's end is
#           the same instant. So who takes first from a mailbox, and whether
#           a time-out strikes, hangs on ties that have no meaning in the model; results are the same in each run.
# Version   SimGrid 3.32 as Debian 12 has it (libsimgrid3.32 3.32-2+b2). In 4.0 of Debian 13 sleepers wake in the same reverse
#           order, and the wait of exactly its time-out returns: so versions differ in it.
# Source    Ends of activities are kept in a heap by date alone, and a time-out is a sleep of its own that is looked at
#           first; the documentation promises determinism, not an order.
# Remedy    Break ties in the model (a delay of a nanosecond each), or make the outcome independent of them; give time-outs slack.
# Needs     Debian 12 with g++ and its archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(libsimgrid3.32=3.32-2+b2)
headers=(libsimgrid-dev=3.32-2+b2 libboost1.74-dev=1.74.0+ds1-21) # without what they depend on
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
cat >"$root/tmp/ties.cpp" <<'C++'
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <string>

namespace s4u = simgrid::s4u;

int main(int count, char** arguments) {
  s4u::Engine engine(&count, arguments);
  auto* zone = s4u::create_full_zone("zone");
  auto* host = zone->create_host("host", 1e9)->seal();
  zone->seal();
  for (int i = 0; i < 4; ++i) {
    s4u::Actor::create("sleeper", host, [i] {
      std::printf("%g s: actor %d sleeps for 1 s\n", s4u::Engine::get_clock(), i);
      s4u::this_actor::sleep_for(1);
      std::printf("%g s: actor %d wakes\n", s4u::Engine::get_clock(), i);
    });
  }
  s4u::Actor::create("waiter", host, [] {
    s4u::this_actor::sleep_for(2);
    for (double timeout : {0.5, 1.0, 1.5}) {
      const s4u::ExecPtr work = s4u::this_actor::exec_async(1e9);  // takes 1 s
      std::printf("work of 1 s, waited for for %g s: ", timeout);
      try {
        work->wait_for(timeout);
        std::printf("done\n");
      } catch (const simgrid::TimeoutException&) {
        std::printf("timed out\n");
      }
      s4u::this_actor::sleep_for(2);
    }
  });
  engine.run();
}
C++
g++ -std=c++17 -O0 -w -isystem "$root/usr/include" -o "$root/tmp/ties" "$root/tmp/ties.cpp" \
  "$root/usr/lib/x86_64-linux-gnu/libsimgrid.so.3.32" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{
  echo "version $(dpkg --field "$folder"/cache/archives/libsimgrid3.32_*.deb Version)"
  inside /tmp/ties || echo "ended with $?"
} 2>"$folder/errors" | tee "$folder/output" || { cat "$folder/errors" >&2; exit 2; }
cat >"$folder/expected" <<'END'
version 3.32-2+b2
0 s: actor 0 sleeps for 1 s
0 s: actor 1 sleeps for 1 s
0 s: actor 2 sleeps for 1 s
0 s: actor 3 sleeps for 1 s
1 s: actor 3 wakes
1 s: actor 2 wakes
1 s: actor 1 wakes
1 s: actor 0 wakes
work of 1 s, waited for for 0.5 s: timed out
work of 1 s, waited for for 1 s: timed out
work of 1 s, waited for for 1.5 s: done
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
