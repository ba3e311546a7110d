#!/usr/bin/env bash
# A run on two hosts (hosts.sh) is broken at random moments: a rank is killed or stopped, a labrun killed, or the link cut.
# Every other rank must end with a code that is not 0, within the time-out and three seconds, and say why; no process and
# no file may be left. hosts_soak.sh [TIMES [SEED]]
here=$(dirname -- "$(readlink -f -- "$0")")
source "$here/hosts.sh"
source "$here/launchers.sh"
make_hosts 2 || { skip "several hosts: this kernel has no bridge or no veth"; exit 77; }
rank_variable=RANK
times=${1:-50} seed=${2:-$RANDOM} timeout=3 longest=0
RANDOM=$seed
echo "seed $seed, time-out $timeout s"
lab_options=(--repeat 1000000 --quiet --timeout "$timeout")

# start: two ranks on each host; leaves those who wait for a labrun in $labruns.
start() {
  local host
  labruns=()
  for host in 0 1; do
    on_host $host "$bin/labrun" --nnodes 2 --node-rank $host --nproc-per-node 2 --master-addr node0 --master-port 29500 \
      "$bin/$1" "${lab_options[@]}" >"$scratch/out.$host" 2>"$scratch/err.$host" </dev/null &
    labruns+=($!)
  done
}

# broken KIND RANK PATTERN: breaks a running lab so; what is printed by the ranks that are left must match the pattern.
broken() {
  local kind=$1 rank=$2 pattern=$3 lab=${labs[RANDOM % ${#labs[@]}]} host=$(($2 / 2)) other=$((1 - $2 / 2)) pause start_of_end codes=() seconds what
  start "$lab"
  until [[ $(rank_processes | wc -l) == 4 ]] && grep -q 'Tensors match' "$scratch/out.$other" 2>/dev/null; do sleep 0.05; done
  pause=$((RANDOM % 3)).$((RANDOM % 1000))
  sleep "$pause"
  start_of_end=${EPOCHREALTIME/[.,]/}
  case $kind in
    kill) kill -KILL "$(rank_processes "$rank")" ;;
    stop) kill -STOP "$(rank_processes "$rank")" ;;
    labrun) pkill -KILL -P "${labruns[host]}" ;;
    cut) ip link set "node$host" down ;;
  esac
  for host in 0 1; do
    wait "${labruns[host]}" 2>/dev/null
    codes+=($?)
  done
  seconds=$(((${EPOCHREALTIME/[.,]/} - start_of_end) / 100000))
  [[ $seconds -le $longest ]] || longest=$seconds
  ip link set node0 up && ip link set node1 up
  what="$kind $rank, $pause s into $lab: codes ${codes[*]} after ${seconds%?}.${seconds: -1} s"
  cp "$scratch/err.$other" "$scratch/err"
  verdict "$([[ " ${codes[*]} " != *" 0 "* ]]; echo $?)" "$what"
  verdict "$(grep -qE -- "$pattern" "$scratch/err.$other"; echo $?)" "... and the cause is named on the other host"
  for _ in $(seq 30); do [[ $(rank_processes) ]] || break; sleep 0.1; done
  verdict "$([[ ! $(rank_processes) && ! $(ls -A "$scratch/tmp") ]]; echo $?)" "... and no process and no file is left $(ls -A "$scratch/tmp")"
}

for ((i = 0; i < times; ++i)); do
  rank=$((RANDOM % 4))
  gone="rank $rank (failed|\\(process [0-9]+ on node$((rank / 2))\\))|rank 0, at node0:29500, does not answer"
  case $((i % 4)) in
    0) broken kill $rank "$gone" ;;
    1) broken stop $rank "$gone" ;;
    2) broken labrun $rank "rank [$((rank / 2 * 2))$((rank / 2 * 2 + 1))] failed" ;;
    3) broken cut $rank "rank [$((rank / 2 * 2))$((rank / 2 * 2 + 1))] \\(process [0-9]+ on node$((rank / 2))\\)|rank 0, at node0:29500, does not answer" ;;
  esac
done
echo "the longest end took ${longest%?}.${longest: -1} s"
finish
