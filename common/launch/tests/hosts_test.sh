#!/usr/bin/env bash
# Every lab with a labrun on each of four hosts (hosts.sh); failures; a host that is cut off; a bad network.
here=$(dirname -- "$(readlink -f -- "$0")")
source "$here/hosts.sh"
source "$here/launchers.sh"
make_hosts 4 || { skip "several hosts: this kernel has no bridge or no veth"; exit 77; }
master=node0 ranks_per_host=1 told_by=labrun rank_variable=RANK names_killed='killed by signal 9'

live_log() { echo "$scratch/out.0"; }

# launch LAB OPTION...: on all hosts. $code is 0, or that of the first labrun that fails; each one's is in $codes.
launch() {
  local host labruns=()
  for host in 0 1 2 3; do
    on_host $host timeout "$run_seconds" "$bin/labrun" --nnodes 4 --nproc-per-node $ranks_per_host --node-rank $host --master-addr "$master" --master-port 29500 \
      "$bin/$1" "${@:2}" >"$scratch/out.$host" 2>"$scratch/err.$host" </dev/null &
    labruns+=($!)
  done
  code=0 codes=()
  for host in 0 1 2 3; do
    wait "${labruns[host]}"
    codes+=($?)
    [[ $code != 0 ]] || code=${codes[host]}
  done
  cat "$scratch"/out.? >"$scratch/out"
  cat "$scratch"/err.? >"$scratch/err"
}

every_lab_is_right
a_failed_rank_ends_the_run
a_stopped_rank_ends_the_run

# A host's ranks share memory with each other only.
launch "${labs[0]}" --transport shm
ends_with_cause "shared memory alone" 'expected all 4 ranks on one host, got 1 on that of rank [0-3]; hint: --transport auto'
ranks_per_host=2
for lab in "${labs[0]}" "${labs[2]}"; do
  launch "$lab" --transport auto
  accepts "$lab on 4 hosts of 2 ranks, through shared memory and Gloo" "$lab" 8
done
ranks_per_host=1

# cut_off HOST OTHER: HOST's link goes down while a lab runs; the OTHER one is the host on which its ranks miss somebody.
cut_off() {
  local host=$1 other=$2 cutter peer
  rm -f "$(live_log)"
  {
    until grep -q 'Tensors match' "$(live_log)" 2>/dev/null; do sleep 0.02; done
    ip link set "node$host" down
    date +%s.%N >"$scratch/cut"
  } &
  cutter=$!
  launch "${labs[0]}" --repeat 1000000 --quiet --timeout 4
  kill "$cutter" 2>/dev/null
  wait "$cutter" 2>/dev/null
  echo "        $(awk -v end="$(date +%s.%N)" '{printf "%.1f", end - $1}' "$scratch/cut") s after the cut all have ended; the time-out is 4 s"
  verdict "$([[ " ${codes[*]} " != *" 0 "* && " ${codes[*]} " != *" 124 "* ]]; echo $?)" "node$host cut off: all ends, with codes ${codes[*]}"
  for peer in 0 1 2 3; do
    [[ $peer != "$host" ]] || continue
    verdict "$(grep -qE "timed out after 4 s: .*(rank $host \(process [0-9]+ on node$host\)|rank 0, at node0:[0-9]+, does not answer)" "$scratch/err.$peer"; echo $?)" \
      "... and named on node$peer"
  done
  verdict "$(grep -qE "timed out after 4 s: .*$other" "$scratch/err.$host"; echo $?)" "... where the others are missed"
  verdict "$([[ ! $(rank_processes) ]]; echo $?)" "... and no rank is left"
  ip link set "node$host" up
}
cut_off 2 'rank 0, at node0:[0-9]+, does not answer'
cut_off 0 'rank 1 \(process [0-9]+ on node1\), .*rank 3'

# The same hosts, on a network that delays packets, loses some and changes their order.
"$bin/lab_bad_network" node0 node1 node2 node3 >"$scratch/network" 2>&1 &
network=$!
for _ in $(seq 50); do [[ ! -s $scratch/network ]] || break; sleep 0.1; done
if ! grep -q ready "$scratch/network"; then skip "a bad network: $(cat "$scratch/network")"
else
  for host in 0 1 2 3; do
    on_host $host ip address add "10.78.0.$((host + 1))/24" dev lab0
    on_host $host ip link set lab0 up
  done
  master=10.78.0.1
  for lab in "${labs[0]}" "${labs[2]}"; do
    mapfile -t options < <(options_of "$lab")
    launch "$lab" "${options[@]}"
    is_right "1 to 4 ms, one packet in 100 lost, many out of order: $lab" "$lab"
  done
  kill "$network"
  wait "$network"
  echo "        $(tail -n 1 "$scratch/network")"
  verdict "$(awk '/packets/ {exit !($1 > 1000 && $3 > 0 && $5 > 100)}' "$scratch/network"; echo $?)" "... through the bad network"
fi
finish
