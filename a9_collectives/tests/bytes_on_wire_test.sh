#!/usr/bin/env bash
# What an all-reduce of 64 MiB sends over the network interface of each of four hosts (common/launch/tests/hosts.sh), next
# to what the ledger says. A packet's headers are deducted: 14 bytes of Ethernet, 20 of IP, 32 of TCP with time stamps.
source "$LAB_SOURCE_DIR/common/launch/tests/hosts.sh"
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
make_hosts 4 || { skip "several hosts: this kernel has no bridge or no veth"; exit 77; }
for host in 0 1 2 3; do
  on_host $host env RANK=$host WORLD_SIZE=4 MASTER_ADDR=node0 MASTER_PORT=29500 "$bin/a9_bytes_on_wire" >"$scratch/out.$host" 2>&1 &
  ranks+=($!)
done
for host in 0 1 2 3; do
  wait "${ranks[host]}"
  verdict $? "rank $host ends with 0"
  while IFS= read -r line; do
    verdict "$(awk '{ wire = $(NF - 5) - 66 * $(NF - 1); exit !(wire >= $(NF - 9) && wire <= 1.05 * $(NF - 9)) }' <<<"${line//,/}"; echo $?)" "rank $host, $line"
  done < <(grep 'by the ledger' "$scratch/out.$host")
done
verdict "$([[ $num_passed -ge 12 ]]; echo $?)" "two all-reduces on four ranks were counted"
finish
