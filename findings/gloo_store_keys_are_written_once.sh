#!/usr/bin/env bash
# Gloo's stores refuse to write a key a second time.
#
# Guess     A rendezvous store's set() overwrites, as c10d's stores do: the last writer wins.
# Truth     HashStore and FileStore throw when a key is set again, even to the same value, also through a PrefixStore. Code
#           that publishes a changing value (a counter, a heartbeat, a second attempt after a failure) works with c10d's
#           FileStore and throws with Gloo's.
# Version   Gloo of 18 May 2022 as Debian 12 has it (libgloo0 0.0~git20220518.5b14351-3), C++ API
# Source    hash_store.cc and file_store.cc: each set() first checks that there is no such key, or no such file.
# Remedy    A prefix of its own for each attempt.
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
cat >"$root/tmp/gloo_store_keys_are_written_once.cpp" <<'C++'
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/rendezvous/prefix_store.h>

#include <cstdio>
#include <exception>

void set_twice(const char* what, gloo::rendezvous::Store& store, char first, char second) {
  store.set("key", {first});
  try {
    store.set("key", {second});
    std::printf("%s: set to %c, then to %c: is %c\n", what, first, second, store.get("key")[0]);
  } catch (const std::exception&) {
    std::printf("%s: set to %c, then to %c: throws, and is %c\n", what, first, second, store.get("key")[0]);
  }
}

int main() {
  gloo::rendezvous::HashStore hash, under_prefix, same;
  gloo::rendezvous::FileStore file("/tmp");
  gloo::rendezvous::PrefixStore prefix("job", under_prefix), first_attempt("0", same), second_attempt("1", same);
  set_twice("HashStore", hash, 'a', 'b');
  set_twice("FileStore", file, 'a', 'a');
  set_twice("PrefixStore", prefix, 'a', 'b');
  first_attempt.set("key", {'a'});
  second_attempt.set("key", {'b'});
  std::printf("a prefix for each attempt: %c and %c\n", first_attempt.get("key")[0], second_attempt.get("key")[0]);
}
C++
dpkg --field "$folder"/cache/archives/libgloo0_*.deb >"$folder/about"
g++ -std=c++17 -O1 -w -pthread -isystem "$root/usr/include" -o "$root/tmp/gloo_store_keys_are_written_once" "$root/tmp/gloo_store_keys_are_written_once.cpp" "$root/usr/lib/libgloo.so.0" -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(sed -n "s/^Version: //p" "$folder/about")"; inside /tmp/gloo_store_keys_are_written_once || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 0.0~git20220518.5b14351-3
HashStore: set to a, then to b: throws, and is a
FileStore: set to a, then to a: throws, and is a
PrefixStore: set to a, then to b: throws, and is a
a prefix for each attempt: a and b
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
