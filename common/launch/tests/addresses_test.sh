#!/usr/bin/env bash
# Where ranks meet: names with several addresses, a name that comes later, a machine whose loopback has one family or none.
# In namespaces of the test's own, with a hosts file and a loopback interface of its own.
if [[ ! ${LAB_OWN_NAMESPACES:-} ]]; then
  type -P ip >/dev/null || { echo "skipped: addresses: ip (package iproute2) is not installed"; exit 77; }
  unshare --mount --net true 2>/dev/null || { echo "skipped: addresses: namespaces are not permitted here"; exit 77; }
  LAB_OWN_NAMESPACES=1 exec unshare --mount --net "$0" "$@"
fi
source "$(dirname -- "$(readlink -f -- "$0")")/../../testing/program_checks.sh"
program=$bin/a4_data_tensor
ip link set lo up
mount -t tmpfs -o strictatime tmpfs "$scratch"  # by which the test sees that a rank has looked up a name
trap 'umount /etc/hosts "$scratch"; rm -rf "$scratch"' EXIT
touch "$scratch/hosts" && mount --bind "$scratch/hosts" /etc/hosts

# rank NUMBER HOST [options]: one of two ranks by hand.
rank() {
  env RANK="$1" WORLD_SIZE=2 LOCAL_RANK="$1" MASTER_ADDR="$2" MASTER_PORT=29500 timeout 600 "$program" --quiet "${@:3}" \
    >"$scratch/out$1" 2>"$scratch/err$1" </dev/null
}
# both_meet WHAT HOST
both_meet() {
  local code0=0 code1=0 other
  rank 1 "$2" & other=$!
  rank 0 "$2" || code0=$?
  wait $other || code1=$?
  cat "$scratch/err0" "$scratch/err1" >"$scratch/err"
  verdict "$([[ $code0 == 0 && $code1 == 0 ]]; echo $?)" "$1: exit codes $code0 and $code1"
}

while IFS='|' read -r what lines; do
  printf '127.0.0.1 localhost\n%b' "$lines" >"$scratch/hosts"
  both_meet "$what" node0
done <<'EOF'
Debian's address of a host name|127.0.1.1 node0\n
Debian's and a network's|127.0.1.1 node0\n127.0.0.2 node0\n
a network's and Debian's|127.0.0.2 node0\n127.0.1.1 node0\n
two addresses|127.0.0.2 node0\n127.0.0.3 node0\n
the same address twice|127.0.0.2 node0\n127.0.0.2 node0.cluster node0\n
one of each family|127.0.0.1 node0\n::1 node0\n
EOF

# Rank 1 looks for the name before it is there.
echo '127.0.0.1 localhost' >"$scratch/hosts"
not_read=$(stat -c %.X "$scratch/hosts")
rank 1 late0 --timeout 120 & other=$!
until [[ $(stat -c %.X "$scratch/hosts") != "$not_read" ]]; do sleep 0.01; done
echo '127.0.0.1 late0' >>"$scratch/hosts"
code0=0 code1=0
rank 0 late0 --timeout 120 || code0=$?
wait $other || code1=$?
verdict "$([[ $code0 == 0 && $code1 == 0 ]]; echo $?)" "a name that can be looked up only later: exit codes $code0 and $code1"
run env RANK=1 WORLD_SIZE=2 MASTER_ADDR=never0 MASTER_PORT=29500 "$program" --timeout 0.5
refuses "a name that nobody knows" 5 "could not find the address of 'never0' before the time-out .*; hint: check MASTER_ADDR"

run env GLOO_SOCKET_IFNAME=none0,lo "$program" --nproc 2; accepts "the first interface of a list that is there" a4_data_tensor 2
run env GLOO_SOCKET_IFNAME='none0, lo ' "$program" --nproc 2; accepts "... with blanks in the list" a4_data_tensor 2
run env GLOO_SOCKET_IFNAME=none0,none1 "$program" --nproc 2; refuses "... if none is there" 2 "GLOO_SOCKET_IFNAME: .* got 'none0,none1'"

ip address del 127.0.0.1/8 dev lo
run "$program" --nproc 4; accepts "a loopback of IPv6 alone" a4_data_tensor 4
run "$bin/labrun" --standalone --nproc-per-node 4 "$program"; accepts "... under labrun" a4_data_tensor 4
ip link set lo down
run "$program" --nproc 2; refuses "no loopback" 2 'loopback interface: expected the address 127.0.0.1 or ::1, got neither; hint: ip link set lo up'
finish
