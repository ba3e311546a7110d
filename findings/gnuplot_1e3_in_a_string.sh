#!/usr/bin/env bash
# gnuplot does not take "1e-3" in a string for a number, while it takes "1.0e-3", and "3 apples" for 3.
#
# Guess     A string that holds a number is converted where a number is needed: "1e-3" + 0 is 0.001, as 1e-3 is without quotes.
# Truth     An exponent is understood only after a decimal point: "1e-3" raises "Trailing characters", so a loop over the words
#           of "1e-3 1e-2" fails where "1.0e-3 1.0e-2" works. "010" is 8, "3 apples" is 3, "5%" raises.
# Version   gnuplot 5.4.4 as Debian 12 has it
# Source    Seen, not documented: a text without a point is scanned as an integer, in C's bases, and what is left must be empty
#           or begin with a blank.
# Remedy    Write exponents with a point; columns of data are read otherwise, and take 1e-3.
# Needs     Debian 12's archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(gnuplot-nox=5.4.4+dfsg1-2+b2 gnuplot-data=5.4.4+dfsg1-2)
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
evaluate() { # EXPRESSION: its value, or what gnuplot says
  inside gnuplot-nox -e "set print '-'; print $1" 2>&1 | sed -n 's/.*line [0-9]*: /raises: /; /[^ ^]/p' | tail -n 1
}
{
  echo "version $(inside gnuplot-nox --version)"
  for expression in '1e-3' '"1.0e-3" + 0' '"1e-3" + 0' 'real("1e3")' '"1.e3" + 0' '"010" + 0' '"0x10" + 0' '"3 apples" + 0' '"5%" + 0'; do
    echo "$expression  ->  $(evaluate "$expression")"
  done
  printf '1e-3\n' >"$root/tmp/data"
  echo "1e-3 as data  ->  $(inside gnuplot-nox -e "set print '-'; stats '/tmp/data' using 1 nooutput; print STATS_max" 2>&1)"
} | tee "$folder/output"
cat >"$folder/expected" <<'END'
version gnuplot 5.4 patchlevel 4
1e-3  ->  0.001
"1.0e-3" + 0  ->  0.001
"1e-3" + 0  ->  raises: Trailing characters after numeric expression
real("1e3")  ->  raises: Trailing characters after numeric expression
"1.e3" + 0  ->  1000.0
"010" + 0  ->  8
"0x10" + 0  ->  16
"3 apples" + 0  ->  3
"5%" + 0  ->  raises: Trailing characters after numeric expression
1e-3 as data  ->  0.001
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
