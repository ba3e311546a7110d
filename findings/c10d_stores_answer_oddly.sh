#!/usr/bin/env bash
# c10d's stores: compareSet of a missing key answers with a value that is nowhere, and a PrefixStore counts its neighbours' keys.
#
# Guess     compareSet() returns what the store holds afterwards; of a missing key with an expected value, nothing. getNumKeys() of a
#           PrefixStore counts the keys under its prefix. deleteKey() of a missing key is false.
# Truth     compareSet("k", expected "old", desired "new") without a key sets nothing and returns "old", as if another had written
#           it, so a loop that waits for its answer to change spins on a key that is not there. A PrefixStore's number
#           is the whole store's. FileStore's deleteKey() is true for a key that never was; HashStore's and TCPStore's are false.
# Version   LibTorch 1.13.1 as Debian 12 has it (libtorch1.13 1.13.1+dfsg-4), from C++
# Source    HashStore, FileStore and TCPStore each return the expected value for a missing key; PrefixStore passes getNumKeys()
#           on without its prefix; FileStore deletes by appending a line, and says whether that worked.
# Remedy    compareSet() with an empty expected value to create a key; check() to see whether it is there.
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
cat >"$root/tmp/stores.cpp" <<'C++'
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <cstdio>

using Bytes = std::vector<std::uint8_t>;

Bytes bytes(const std::string& text) { return {text.begin(), text.end()}; }

void ask(const char* what, c10::intrusive_ptr<c10d::Store> store) {
  const auto compare_set = [&](const char* expected, const char* desired) {
    const Bytes answer = store->compareSet("k", bytes(expected), bytes(desired));
    std::printf("  compareSet expects '%s', desires '%s': answers '%s'; key is there: %s\n", expected, desired,
                std::string(answer.begin(), answer.end()).c_str(), store->check({"k"}) ? "yes" : "no");
  };
  std::printf("%s\n", what);
  compare_set("old", "new");
  compare_set("", "first");
  compare_set("old", "new");
  const bool there = store->deleteKey("k");
  const bool missing = store->deleteKey("missing");
  std::printf("  deleteKey of a key: %s, of a missing one: %s\n", there ? "true" : "false", missing ? "true" : "false");
  c10d::PrefixStore a("a", store), b("b", store);
  const long before = a.getNumKeys();
  a.set("x", bytes("1"));
  b.set("x", bytes("1"));
  b.set("y", bytes("1"));
  std::printf("  1 key under prefix a, 2 under b: a counts %ld more than before\n", a.getNumKeys() - before);
}

int main() {
  c10d::TCPStoreOptions options;
  options.isServer = true;
  options.port = 0;
  options.waitWorkers = false;
  ask("HashStore", c10::make_intrusive<c10d::HashStore>());
  ask("FileStore", c10::make_intrusive<c10d::FileStore>("/tmp/store", 1));
  ask("TCPStore", c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options));
}
C++
libraries=$root/usr/lib/x86_64-linux-gnu
g++ -std=c++17 -O0 -w -pthread -isystem "$root/usr/include" -o "$root/tmp/stores" "$root/tmp/stores.cpp" \
  "$libraries"/{libtorch_cpu,libc10}.so.1.13 -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(dpkg --field "$folder"/cache/archives/libtorch1.13_*.deb Version)"; inside /tmp/stores || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 1.13.1+dfsg-4
HashStore
  compareSet expects 'old', desires 'new': answers 'old'; key is there: no
  compareSet expects '', desires 'first': answers 'first'; key is there: yes
  compareSet expects 'old', desires 'new': answers 'first'; key is there: yes
  deleteKey of a key: true, of a missing one: false
  1 key under prefix a, 2 under b: a counts 3 more than before
FileStore
  compareSet expects 'old', desires 'new': answers 'old'; key is there: no
  compareSet expects '', desires 'first': answers 'first'; key is there: yes
  compareSet expects 'old', desires 'new': answers 'first'; key is there: yes
  deleteKey of a key: true, of a missing one: true
  1 key under prefix a, 2 under b: a counts 3 more than before
TCPStore
  compareSet expects 'old', desires 'new': answers 'old'; key is there: no
  compareSet expects '', desires 'first': answers 'first'; key is there: yes
  compareSet expects 'old', desires 'new': answers 'first'; key is there: yes
  deleteKey of a key: true, of a missing one: false
  1 key under prefix a, 2 under b: a counts 3 more than before
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
