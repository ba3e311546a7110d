#!/usr/bin/env bash
# Every lab's run.sh by sbatch, on a cluster of four nodes, from the project's root and from the lab's own folder;
# failures; other launchers under Slurm.
here=$(dirname -- "$(readlink -f -- "$0")")
PATH=$PATH:/usr/sbin
source "$here/slurm_cluster.sh"
in_own_namespaces "$@"
source "$here/launchers.sh"
trap 'exit 130' INT TERM
trap 'stop_cluster; umount /etc/hosts; rm -rf "$scratch"' EXIT
start_cluster || { verdict 1 "four nodes are up"; finish; exit 1; }
told_by=Slurm rank_variable=SLURM_PROCID names_killed='task 2: Killed'

# A copy of what a user submits from, so that the source tree stays as it is.
tree=$scratch/tree
mkdir -p "$tree/build/release" "$tree/common/launch"
ln -s "$bin" "$tree/build/release/bin"
cp "$LAB_SOURCE_DIR/lab" "$tree"
cp "$LAB_SOURCE_DIR/common/launch/run.sh" "$tree/common/launch"
for lab in "${labs[@]}"; do
  mkdir "$tree/$lab"
  cp "$LAB_SOURCE_DIR/$lab/run.sh" "$tree/$lab"
done

live_log() { echo "$tree/$1/$1.log"; }

# submit FOLDER LAB SCRIPT OPTION...: by sbatch, in that folder; then moves what the job left in the lab's to $scratch.
submit() {
  local folder=$1 lab=$2 id
  id=$(cd "$folder" && sbatch --parsable "${@:3}") || { code=125; return; }
  finish_job "$id"
  mv "$tree/$lab/$lab.log" "$scratch/out"
  mv "$tree/$lab/$lab.err" "$scratch/err"
}

launch() { submit "$tree" "$1" "$1/run.sh" "${@:2}"; }

every_lab_is_right
for lab in "${labs[@]}"; do
  mapfile -t options < <(options_of "$lab")
  submit "$tree/$lab" "$lab" run.sh "${options[@]}"
  is_right "$lab, from its own folder" "$lab"
done
(cd "$scratch" && sbatch --wait --output "$scratch/err" "$tree/${labs[0]}/run.sh" >/dev/null) || code=$?
ends_with_cause "from elsewhere" "^run.sh: .* is not there: submit from the project's root"
a_failed_rank_ends_the_run
a_stopped_rank_ends_the_run

# srun_ends_with CODE RANKS: the code of a run whose ranks do this.
srun_ends_with() {
  run srun -N 4 -n 4 bash -c "case \$SLURM_PROCID in $2 esac"
  verdict "$([[ $code == "$1" ]]; echo $?)" "srun's code of $2: $code, expected $1"
}
srun_ends_with 200 '0) exit 3 ;; 1) exit 200 ;;'
srun_ends_with 137 '0) exit 200 ;; 1) kill -KILL $$ ;;'
srun_ends_with 143 '0) kill -TERM $$ ;; 1) kill -KILL $$ ;;'

lab=${labs[0]} program=$bin/${labs[0]}
run srun -N 1 -n 4 --overcommit "$program"
is_right "4 ranks on one node" "$lab"
mv "$scratch/out" "$scratch/lines"
run srun -N 1 -n 101 --overcommit -l sh -c 'grep -w "Rank $SLURM_PROCID" "$1"; true' - "$scratch/lines"
says "srun -l of 101 tasks pads its labels" '^  1: .*\[Rank 1\] Tensors match'
accepts "... and they change nothing" "$lab" 4
told_by=labrun
run srun -N 4 -n 4 "$bin/labrun" --nnodes 4 --master-addr node0 --master-port $((20000 + RANDOM % 10000)) "$program"
is_right "labrun on each node" "$lab"
if launcher mpirun; then
  told_by='Open MPI'
  run salloc --nodes 4 --ntasks 4 "${mpirun[@]}" -n 4 "$program"
  is_right "mpirun in an allocation" "$lab"
else skip "mpirun does not start programs here"; fi
finish
