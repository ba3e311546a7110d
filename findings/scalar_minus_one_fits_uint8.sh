#!/usr/bin/env bash
# LibTorch's checked conversion of a number lets -1 pass as 255, while it refuses -200 as int8, 300 as uint8 and NaN as int.
#
# Guess     item<uint8_t>() and Scalar::to<uint8_t>() raise "value cannot be converted without overflow" for whatever does not fit,
#           -1 as well as 300.
# Truth     A negative integer passes if its wrapped value stands for it: -1 is 255, -255 is 1, and -256 raises. -1.5 raises, and
#           so does every value that an int8 cannot hold. 2.7 as int passes, as 2: "without overflow" is not "without loss".
# Version   LibTorch 1.13.1 as Debian 12 has it (libtorch1.13 1.13.1+dfsg-4); 2.6.0 of Debian 13 does the same
# Source    c10's test for overflow allows negative values for unsigned targets on purpose (a comment there tells of "a - b" written
#           as an addition); doubles are compared with the target's limits, where a negative number is below.
# Remedy    Check the sign before item<uint8_t>(); take item<int64_t>().
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
cat >"$root/tmp/scalar_minus_one_fits_uint8.cpp" <<'C++'
#include <c10/core/Scalar.h>

#include <cmath>
#include <cstdio>

template <typename T>
void convert(const char* type, c10::Scalar value) {
  std::printf("%g to %s: ", value.toDouble(), type);
  try {
    std::printf("%g\n", static_cast<double>(value.to<T>()));
  } catch (const std::exception&) {
    std::printf("raises\n");
  }
}

int main() {
  for (int value : {300, -1, -255, -256}) convert<std::uint8_t>("uint8_t", value);
  convert<std::uint8_t>("uint8_t", -1.0);
  convert<std::int8_t>("int8_t", -200);
  convert<std::int8_t>("int8_t", 200);
  convert<int>("int", 2.7);
  convert<int>("int", NAN);
  convert<int>("int", 1e20);
  convert<bool>("bool", 0.3);
}
C++
libraries=$root/usr/lib/x86_64-linux-gnu
g++ -std=c++17 -O1 -w -pthread -isystem "$root/usr/include" -isystem "$root/usr/include/torch/csrc/api/include" -o "$root/tmp/scalar_minus_one_fits_uint8" \
  "$root/tmp/scalar_minus_one_fits_uint8.cpp" "$libraries"/{libtorch_cpu,libc10}.so.1.13 -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
{ echo "version $(dpkg --field "$folder"/cache/archives/libtorch1.13_*.deb Version)"; inside /tmp/scalar_minus_one_fits_uint8 || echo "ended with $?"; } | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 1.13.1+dfsg-4
300 to uint8_t: raises
-1 to uint8_t: 255
-255 to uint8_t: 1
-256 to uint8_t: raises
-1 to uint8_t: raises
-200 to int8_t: raises
200 to int8_t: raises
2.7 to int: 2
nan to int: raises
1e+20 to int: raises
0.3 to bool: 1
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
