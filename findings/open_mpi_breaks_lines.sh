#!/usr/bin/env bash
# Open MPI's mpirun breaks lines of ranks that write whole ones, and puts other ranks' lines, or its labels, in between.
#
# Guess     A rank that writes each line by one write() has whole lines in mpirun's output, as a pipe keeps what is shorter than
#           4,096 bytes together; with --tag-output, each line begins with its rank.
# Truth     Where ranks write faster than mpirun reads, about one line in 100 is broken: mpirun takes what is in a rank's pipe up
#           to some size, wherever in a line that ends, and goes on with another rank's, in the same line. --tag-output labels
#           pieces, not lines: a second label stands inside of a line. MPICH's mpirun leaves such lines whole.
# Version   Open MPI 4.1.4 and MPICH 4.0.2 as Debian 12 has them; Open MPI 5.0.7 of Debian 13 does the same (--output tag)
# Source    orte/mca/iof: what is read at a time has ORTE_IOF_BASE_MSG_MAX, 4,096 bytes at most; a label is put before each piece.
# Remedy    --output-filename FOLDER, in 4.1.4: a file for each rank, with whole lines.
# Needs     Debian 12's archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(mpich=4.0.2-3+b1 openmpi-bin=4.1.4-3+b1 dash=0.5.12-2)
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
cat >"$root/tmp/rank.sh" <<'SH'
line=0
while [ $line -lt 4000 ]; do
  line=$((line + 1))
  echo "a line of rank ${OMPI_COMM_WORLD_RANK:-$PMI_RANK}, which has sixty characters or more."
done
SH
# whole_lines WHAT LABEL COMMAND...: runs 4 ranks; are the lines those that they wrote, each with this label in front?
whole_lines() {
  local lines broken
  inside "${@:3}" -n 4 sh /tmp/rank.sh >"$folder/lines" 2>"$folder/errors" </dev/null || tail -n 3 "$folder/errors"
  lines=$(grep -c '' "$folder/lines")
  broken=$(grep -Evc "^$2a line of rank [0-3], which has sixty characters or more\\.\$" "$folder/lines" || true)
  echo "$1: $lines lines, $( ((broken == 0)) && echo all whole || echo some broken)"
}
open_mpi=(mpirun.openmpi --allow-run-as-root --oversubscribe)
{
  inside mpirun.openmpi --version | sed -n 's/^mpirun.*) /version Open MPI /p'
  echo "version MPICH $(inside mpirun.mpich --version | sed -n 's/^ *Version: *//p')"
  whole_lines "Open MPI" '' "${open_mpi[@]}"
  whole_lines "Open MPI --tag-output" '\[[0-9]+,[0-3]\]<stdout>:' "${open_mpi[@]}" --tag-output
  whole_lines "MPICH" '' mpirun.mpich
  whole_lines "MPICH -prepend-rank" '\[[0-3]\] ' mpirun.mpich -prepend-rank
} | tee "$folder/output"
cat >"$folder/expected" <<'END'
version Open MPI 4.1.4
version MPICH 4.0.2
Open MPI: 16000 lines, some broken
Open MPI --tag-output: 16000 lines, some broken
MPICH: 16000 lines, all whole
MPICH -prepend-rank: 16000 lines, all whole
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
