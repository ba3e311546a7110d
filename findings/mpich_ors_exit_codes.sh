#!/usr/bin/env bash
# MPICH's mpirun can end with a code with which no rank ended: it combines the ranks' codes bit by bit.
#
# Guess     Where ranks end with different codes, mpirun ends with one of them: the first, or the highest.
# Truth     The exit code is the bitwise "or" of all of them: 3 and 5 give 7, 1 and 2 give 3, 2 and 4 give 6. If one rank alone
#           fails, it is that rank's code. Open MPI 4.1.4, given ranks with 0, 3 and 5, ends with 3.
# Version   MPICH 4.0.2 as Debian 12 has it; 4.2.1 of Debian 13 does the same
# Source    Seen, with each pair tried; the manual page of mpiexec does not say which code wins.
# Remedy    Ranks that agree on one code before they end; or read the ranks' own messages, not the launcher's code.
# Needs     Debian 12's archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(mpich=4.0.2-3+b1 dash=0.5.12-2)
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
ln -sf dash "$root/usr/bin/sh"
# Ranks that use no MPI, each with its own code: rank r ends with the r-th argument.
printf 'shift $PMI_RANK\nexit $1\n' >"$root/tmp/rank.sh"
{
  echo "version $(inside mpirun.mpich --version | sed -n 's/^ *Version: *//p')"
  for codes in "0 5" "3 5" "1 2" "2 4" "4 4" "7 0 8"; do
    ended=0
    set -- $codes
    inside mpirun.mpich -n $# sh /tmp/rank.sh $codes >/dev/null 2>&1 || ended=$?
    echo "ranks end with $codes: mpirun with $ended"
  done
} </dev/null | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 4.0.2
ranks end with 0 5: mpirun with 5
ranks end with 3 5: mpirun with 7
ranks end with 1 2: mpirun with 3
ranks end with 2 4: mpirun with 6
ranks end with 4 4: mpirun with 4
ranks end with 7 0 8: mpirun with 15
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
