#!/usr/bin/env bash
# similarity-tester's percentages do not list every pair: of three equal files it names two pairs, and each pair once.
#
# Guess     sim_c++ -p says for each two files how much of either is in the other: of three equal files it lists six lines, or
#           at least all three pairs, and where a copy has code added it shows the lower percentage, too.
# Truth     Code of a file is looked for in the files after it on the command line, and no further once found: a, b and c, all
#           equal, give "a of b" and "b of c", never a and c. Of a file within a longer one 100 % or less is told, by the order
#           of the names. With -e every pair is listed, still one way only.
# Version   similarity-tester 3.0.2 as Debian 12 has it
# Source    Its manual page, in the section on percentages, not at -p: which runs are found without options, with -e, with -a.
# Remedy    -a and -e together, and take the higher of a pair's two percentages.
# Needs     Debian 12's archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(similarity-tester=3.0.2-1+b1 dash=0.5.12-2)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
root=$folder/root
mkdir -p "$folder/cache/archives/partial" "$root"/usr/{bin,sbin,lib,lib64} "$root"/{dev,proc,sys,tmp}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
touch "$folder/status"
apt=(apt-get -qq -y -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
"${apt[@]}" --no-install-recommends -d install "${packages[@]}" >"$folder/log" 2>&1 ||
  { echo "cannot get ${packages[*]}:"; tail -n 5 "$folder/log"; exit 2; } >&2
for package in "$folder"/cache/archives/*.deb; do
  dpkg --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
done
inside() { # COMMAND...: runs it in the unpacked root, with nothing of this machine's but the kernel
  unshare --map-root-user --mount bash -c 'mount --rbind /dev "$0/dev" && mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sys" &&
    exec env -i HOME=/tmp PATH=/usr/bin:/usr/sbin:/sbin chroot "$0" "$@"' "$root" "$@"
}
cd "$root/tmp"
cat >a.cc <<'CC'
int sum(const int* v, int first, int last) {
  int total = 0;
  for (int i = first; i < last; ++i) { if (v[i] % 2 == 0) total += v[i] * 3; else total -= v[i] + 1; }
  while (total > 100) { total /= 2; total -= first * last; }
  return total;
}
CC
cp a.cc b.cc
cp a.cc c.cc
cat a.cc - >long.cc <<'CC'
double other(double a, double b) { double c = a; for (double d = 0; d < b; d += 0.5) { c = c * d - a / (b + 1); if (c < 0) c = -c; } return c; }
double third(double a, double b) { do { a = a - 1; b = b * 2; } while (a > 0); return a ? b : -b; }
CC
sim() { echo "sim_c++ $*"; inside dash -c 'cd /tmp && exec sim_c++ "$@"' sim "$@" | sed -n 's/ material$//; s/.*consists/  &/p'; }
{
  echo "version $(dpkg --field "$folder"/cache/archives/similarity-tester_*.deb Version)"
  sim -p a.cc b.cc c.cc
  sim -p -e a.cc b.cc c.cc
  sim -p -a a.cc b.cc c.cc
  sim -p a.cc long.cc
  sim -p long.cc a.cc
  sim -p -e a.cc long.cc
  sim -p -a -e a.cc long.cc
} | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 3.0.2-1+b1
sim_c++ -p a.cc b.cc c.cc
  a.cc consists for 100 % of b.cc
  b.cc consists for 100 % of c.cc
sim_c++ -p -e a.cc b.cc c.cc
  a.cc consists for 100 % of c.cc
  a.cc consists for 100 % of b.cc
  b.cc consists for 100 % of c.cc
sim_c++ -p -a a.cc b.cc c.cc
  b.cc consists for 100 % of c.cc
  a.cc consists for 100 % of b.cc
  c.cc consists for 100 % of a.cc
sim_c++ -p a.cc long.cc
  a.cc consists for 100 % of long.cc
sim_c++ -p long.cc a.cc
  long.cc consists for 48 % of a.cc
sim_c++ -p -e a.cc long.cc
  a.cc consists for 100 % of long.cc
sim_c++ -p -a -e a.cc long.cc
  a.cc consists for 100 % of long.cc
  long.cc consists for 48 % of a.cc
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
