#!/usr/bin/env bash
# When torchrun restarts a run, ranks that had ended well run again, at another MASTER_PORT and without the standard input.
#
# Guess     --max_restarts starts the rank that failed again, the others stay or have done their part; at least the address of
#           the store, MASTER_ADDR and MASTER_PORT, is that of the first try.
# Truth     All ranks of the node start anew, also one that had ended with 0 before another failed: what it wrote is written a
#           second time. With --standalone MASTER_PORT is another in each try, so nothing may keep it across tries. The
#           standard input is shared and read once: a rank that read a configuration there in the first try finds nothing.
# Version   torchrun of PyTorch 1.13.1 as Debian 12 has it (python3-torch 1.13.1+dfsg-4)
# Source    The elastic agent stops its whole worker group and goes through a new rendezvous, whose first rank picks a free port.
# Remedy    Results are written under the number of the try (TORCHELASTIC_RESTART_COUNT), or only after a barrier at the end;
#           configuration comes from files.
# Needs     Debian 12's archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(python3-torch=1.13.1+dfsg-4 libopenblas0-pthread=0.3.21+ds-4 dash=0.5.12-2 coreutils=9.1-1)
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
    exec env -i HOME=/tmp PATH=/usr/bin:/usr/sbin:/sbin LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-pthread OMP_NUM_THREADS=1 chroot "$0" "$@"' "$root" "$@"
}
mkdir -p "$root/etc"
echo "127.0.0.1 localhost $(uname -n)" >"$root/etc/hosts"
cat >"$root/tmp/rank.sh" <<'SH'
try=/tmp/try$TORCHELASTIC_RESTART_COUNT
echo "$MASTER_PORT" >"$try.port$RANK"
if [ "$RANK" = 0 ]; then
  head -n 1 >"$try.input"
  echo done >"$try.rank0"
  exit 0
fi
until [ -e "$try.rank0" ]; do sleep 0.1; done
[ "$TORCHELASTIC_RESTART_COUNT" = 1 ] || exit 3
SH
code=0
echo configuration | inside python3.11 -W ignore -m torch.distributed.run --no_python --standalone --nproc_per_node 2 --max_restarts 1 \
  --monitor_interval 0.1 --log_dir /tmp/logs --redirects 9:1 --tee 9:1 dash /tmp/rank.sh >"$folder/log" 2>&1 || code=$?
cd "$root/tmp"
[[ -e try0.rank0 ]] || { tail -n 5 "$folder/log" >&2; exit 2; }
{
  echo "version $(dpkg --field "$folder"/cache/archives/python3-torch_*.deb Version)"
  echo "try 0: rank 0 ends with 0, rank 1 with 3; try 1: both end with 0; torchrun ends with $code"
  for try in 0 1; do
    echo "try $try: rank 0 ran: $([[ -e try$try.rank0 ]] && echo yes || echo no), read from standard input: '$(cat try$try.input)'"
  done
  echo "MASTER_PORT is the same for both ranks of try 1: $(cmp -s try1.port0 try1.port1 && echo yes || echo no)"
  echo "MASTER_PORT of try 1 is that of try 0: $(cmp -s try0.port0 try1.port0 && echo yes || echo no)"
} | tee "$folder/output"
cat >"$folder/expected" <<'END'
version 1.13.1+dfsg-4
try 0: rank 0 ends with 0, rank 1 with 3; try 1: both end with 0; torchrun ends with 0
try 0: rank 0 ran: yes, read from standard input: 'configuration'
try 1: rank 0 ran: yes, read from standard input: ''
MASTER_PORT is the same for both ranks of try 1: yes
MASTER_PORT of try 1 is that of try 0: no
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
