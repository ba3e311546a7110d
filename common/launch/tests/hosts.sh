# Sourced by the tests of several hosts, which are network namespaces on this machine: node0, node1, ... with an address and
# an interface eth0 each, joined by a bridge. The test starts itself again in namespaces of its own, so that nothing is left
# of the hosts when it ends, however it does.
if [[ ! ${LAB_OWN_NAMESPACES:-} ]]; then
  type -P ip >/dev/null || { echo "skipped: several hosts: ip (package iproute2) is not installed"; exit 77; }
  own=(unshare --mount --net --pid --fork --kill-child --mount-proc)
  "${own[@]}" true 2>/dev/null || { echo "skipped: several hosts: namespaces are not permitted here"; exit 77; }
  LAB_OWN_NAMESPACES=1 exec "${own[@]}" "$0" "$@"
fi

# make_hosts NUMBER
make_hosts() {
  local i
  mount -t tmpfs tmpfs /run && mkdir /run/netns || return
  { cat /etc/hosts; for ((i = 0; i < $1; ++i)); do echo "10.77.0.$((i + 1)) node$i"; done; } >"$scratch/hosts"
  mount --bind "$scratch/hosts" /etc/hosts || return
  ip link add lab type bridge && ip link set lab up || return
  for ((i = 0; i < $1; ++i)); do
    ip netns add "node$i" && ip link add "node$i" type veth peer name eth0 netns "node$i" &&
      ip link set "node$i" master lab up && on_host "$i" ip address add "10.77.0.$((i + 1))/24" dev eth0 &&
      on_host "$i" ip link set eth0 up && on_host "$i" ip link set lo up || return
  done
}

# on_host NUMBER COMMAND...
on_host() {
  ip netns exec "node$1" unshare --uts sh -c 'echo "$0" >/proc/sys/kernel/hostname && exec "$@"' "node$1" "${@:2}"
}
