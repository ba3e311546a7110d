# Sourced by slurm_test.sh: a Slurm cluster of four nodes on this machine, all of whose files are in $scratch. The test is
# alone in its namespaces: the nodes' names exist for it only, and when it ends, however it does, its daemons do.
daemons=()

# start_cluster: false, with the daemons' last lines, if it does not start.
start_cluster() {
  local port user node
  port=$((10000 + RANDOM % 10000))
  user=$(id -un)
  chmod 755 "$scratch"  # for munge, whose socket must be reachable
  mkdir "$scratch/state" "$scratch/spool"
  (umask 077; head -c 128 /dev/urandom >"$scratch/munge.key")
  { cat /etc/hosts; echo "127.0.0.1 node0 node1 node2 node3"; } >"$scratch/hosts"
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
StateSaveLocation=$scratch/state
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdSpoolDir=$scratch/spool/%n
SlurmdPidFile=$scratch/%n.pid
SlurmdLogFile=$scratch/%n.log
NodeName=node[0-3] NodeHostName=localhost Port=[$((port + 1))-$((port + 4))] CPUs=1
PartitionName=lab Nodes=ALL Default=YES
END
  # 24.11 does not start without cgroups, if it may have any; 22.05 does, and does not know this line.
  [[ $(slurmd -V) == *' 22.'* ]] || echo CgroupPlugin=disabled >"$scratch/cgroup.conf"
  export SLURM_CONF=$scratch/slurm.conf
  daemon munged --foreground --socket="$scratch/munge.socket" --key-file="$scratch/munge.key" \
    --pid-file="$scratch/munge.pid" --log-file="$scratch/munge.log" --seed-file="$scratch/munge.seed"
  for _ in $(seq 100); do [[ ! -S $scratch/munge.socket ]] || break; sleep 0.1; done
  daemon slurmctld -D
  for node in 0 1 2 3; do daemon slurmd -D -N node$node; done
  for _ in $(seq 300); do
    [[ $(sinfo --noheader --format '%D %t' 2>/dev/null) == '4 idle' ]] && return
    sleep 0.1
  done
  tail -n 3 "$scratch"/*.log "$scratch"/*.daemon >&2
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
