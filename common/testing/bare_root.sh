# Sourced by tests that try something on a machine on which nothing is installed: a minimal Debian 12 in a folder.
# Needs root, the package debootstrap and Debian's archive. Uses `skip` and $scratch of program_checks.sh.

# make_bare_root: makes $bare_root; false, and a line that says why, where that is not possible.
make_bare_root() {
  bare_root=$scratch/root
  [[ $EUID == 0 ]] || { skip "a bare Debian root: only root can make one"; return 1; }
  command -v debootstrap >/dev/null || { skip "a bare Debian root: package debootstrap is not installed"; return 1; }
  unshare --mount --pid --fork true 2>/dev/null || { skip "a bare Debian root: namespaces are not permitted here"; return 1; }
  debootstrap --variant=minbase bookworm "$bare_root" >"$scratch/debootstrap.log" 2>&1 || {
    skip "a bare Debian root: $(tail -n 1 "$scratch/debootstrap.log")"; return 1; }
}

# in_bare_root COMMAND [NAME=VALUE]...: runs it there with bash, as root, in an environment of nothing else; leaves
# $scratch/out (stdout and stderr) and $code. Mounts and processes end with it.
in_bare_root() {
  code=0
  unshare --mount --pid --fork --kill-child bash -c '
    root=$1 && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
    exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive "${@:3}" bash -c "$2"' bash "$bare_root" "$@" >"$scratch/out" 2>&1 </dev/null || code=$?
}
