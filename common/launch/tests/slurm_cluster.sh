# Sourced by tests with Slurm: a cluster on this machine, all of whose files are in $scratch. The test is alone in its
# namespaces: the nodes' names exist for it only, and when it ends, however it does, its daemons do.
nodes=(node0 node1 node2 node3)
daemons=()

# in_own_namespaces ARGUMENT...: starts the test, which has these arguments, again in such namespaces.
in_own_namespaces() {
  local program own=(unshare --mount --pid --fork --kill-child --mount-proc)
  [[ ! ${LAB_OWN_NAMESPACES:-} ]] || return 0
  for program in munged slurmctld slurmd sbatch; do
    type -P "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
  done
  "${own[@]}" true 2>/dev/null || { echo "skipped: a mount and a process namespace are not permitted here"; exit 77; }
  LAB_OWN_NAMESPACES=1 exec "${own[@]}" "$0" "$@"
}

# start_node NODE: its daemon. Tests may have their own.
start_node() { daemon slurmd -D -N "$1"; }

# start_cluster: false, with the daemons' last lines, if it does not start.
start_cluster() {
  local port user i
  port=$((10000 + RANDOM % 10000))
  user=$(id -un)
  chmod 755 "$scratch"  # for munge, whose socket must be reachable
  mkdir "$scratch/state" "$scratch/spool"
  (umask 077; head -c 128 /dev/urandom >"$scratch/munge.key")
  { cat /etc/hosts; echo "127.0.0.1 ${nodes[*]}"; } >"$scratch/hosts"
  mount --bind "$scratch/hosts" /etc/hosts || return
  cat >"$scratch/slurm.conf" <<END
ClusterName=lab
SlurmctldHost=localhost
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$scratch/munge.socket
CredType=cred/munge
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
SlurmdTimeout=10
StateSaveLocation=$scratch/state
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdSpoolDir=$scratch/spool/%n
SlurmdPidFile=$scratch/%n.pid
SlurmdLogFile=$scratch/%n.log
END
  for i in "${!nodes[@]}"; do
    echo "NodeName=${nodes[i]} NodeHostName=localhost Port=$((port + 1 + i)) CPUs=1" >>"$scratch/slurm.conf"
  done
  echo "PartitionName=lab Nodes=ALL Default=YES" >>"$scratch/slurm.conf"
  # 24.11 does not start without cgroups, if it may have any; 22.05 does, and does not know this line.
  [[ $(slurmd -V) == *' 22.'* ]] || echo CgroupPlugin=disabled >"$scratch/cgroup.conf"
  export SLURM_CONF=$scratch/slurm.conf
  daemon munged --foreground --socket="$scratch/munge.socket" --key-file="$scratch/munge.key" \
    --pid-file="$scratch/munge.pid" --log-file="$scratch/munge.log" --seed-file="$scratch/munge.seed"
  for _ in $(seq 100); do [[ ! -S $scratch/munge.socket ]] || break; sleep 0.1; done
  daemon slurmctld -D
  for i in "${nodes[@]}"; do start_node "$i"; done
  all_idle && return
  tail -n 3 "$scratch"/*.log "$scratch"/*.daemon >&2
  return 1
}

# all_idle: true as soon as all nodes are; false after half a minute.
all_idle() {
  for _ in $(seq 300); do
    [[ $(sinfo --noheader --format '%D %t' 2>/dev/null) == "${#nodes[@]} idle" ]] && return
    sleep 0.1
  done
  return 1
}

daemon() {
  "$@" >>"$scratch/$1.daemon" 2>&1 </dev/null &
  daemons+=($!)
}

# By SIGKILL: on SIGTERM, 24.11's slurmd waits for a step that cannot report its end, since the controller is gone, too.
stop_cluster() {
  kill -KILL "${daemons[@]}" 2>/dev/null
  wait "${daemons[@]}" 2>/dev/null
}

# finish_job ID: returns when the job has ended, with $code; after $run_seconds it is cancelled, and $code is 124.
finish_job() {
  local job state=PENDING deadline=$((SECONDS + run_seconds))
  code=124
  while [[ $state =~ ^(PENDING|CONFIGURING|RUNNING|COMPLETING)$ ]]; do
    [[ $SECONDS -lt $deadline ]] || { scancel "$1"; return; }
    sleep 0.2
    job=$(scontrol show job --oneliner "$1")
    state=$(sed 's/.* JobState=\([A-Z_]*\).*/\1/' <<<"$job")
  done
  [[ ! $job =~ \ ExitCode=([0-9]+):([0-9]+) ]] || code=$((BASH_REMATCH[2] ? 128 + BASH_REMATCH[2] : BASH_REMATCH[1]))
}
