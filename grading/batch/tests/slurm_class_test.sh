#!/usr/bin/env bash
# Grades a class on a Slurm cluster of two nodes, each with its own name, processes and temporary files: the same results
# as without; a node that dies, twice; a node whose disk is full; a run that is stopped. Needs LAB_SOURCE_DIR, and the
# labs' programs in LAB_BIN_DIR.
PATH=$PATH:/usr/sbin
source "$LAB_SOURCE_DIR/common/launch/tests/slurm_cluster.sh"
in_own_namespaces "$@"
source "$LAB_SOURCE_DIR/grading/batch/tests/small_class.sh"
trap 'exit 130' INT TERM
trap 'stop_cluster; umount /etc/hosts; rm -rf "$scratch"' EXIT
mkdir "$scratch/local"  # of each machine, as /tmp is

# A machine of its own: when its first process is killed, so are all others.
declare -A machines
start_node() {
  daemon unshare --mount --uts --pid --fork --kill-child --mount-proc bash -c \
    "hostname $1; mount -t tmpfs -o size=${2:-1g} none '$scratch/local'; exec slurmd -D -N $1"
  machines[$1]=${daemons[-1]}
}
kill_node() { kill -KILL "${machines[$1]}"; wait "${machines[$1]}" 2>/dev/null; }
nodes=(node0 node1)
start_cluster || { verdict 1 "two nodes are up"; finish; exit 1; }

hand_in turing.tar.gz 's/BEGIN SOLUTION a4.single_step/&\n  throw 1;/'
hand_in lovelace.tar.gz
hand_in hopper.tar.gz '$a // another'
hand_in curie.tar.gz '$a // and another'
srun=(--through 'srun -N1 -n1 -c1' --jobs 2)
export TMPDIR=$scratch/local
grade_all() { run "$bin/labgrade" grade-all "$class" --out "$out" --seed 5 "${how[@]}" "$@"; }
# at_work [NODE]: true once a grading is, on that $node or any; false after a minute.
at_work() {
  for _ in $(seq 600); do
    node=$(sed -n "s/.*\"node\":\"\(${1:-node[01]}\)\".*/\1/p" "$out"/.run/*/*/*.result 2>/dev/null | head -n 1)
    [[ ! $node ]] || return 0
    sleep 0.1
  done
  return 1
}
# start_grading OPTION...: in the background, as $grading, and finish_grading: leaves $scratch/out and $code.
start_grading() {
  env --default-signal=INT "$bin/labgrade" grade-all "$class" --out "$out" --seed 5 "${how[@]}" "${srun[@]}" "$@" \
    >"$scratch/out" 2>"$scratch/err" &
  grading=$!
}
finish_grading() { code=0; wait "$grading" || code=$?; }
# same WHAT: the last run's results are those from without Slurm, to the byte.
same() {
  show_results "$out" >"$scratch/shown"
  verdict "$([[ $code == 0 ]] && cmp -s "$scratch/direct" "$scratch/shown" && cmp -s "$scratch/direct.csv" "$out/marks.csv"; echo $?)" "$1: the same results, exit code $code"
}

grade_all
show_results "$out" >"$scratch/direct"
cp "$out/marks.csv" "$scratch/direct.csv"
out=$scratch/two_nodes
grade_all "${srun[@]}"
same "two nodes"
for node in "${nodes[@]}"; do says "... $node among them" " s on $node  "; done

out=$scratch/node_dies
start_grading
at_work node1; kill_node node1
finish_grading
same "a node dies"
says "... which is said" '^  [a-z]*: lost on node1: .*; it is graded again after the others$'
start_node node1; all_idle; verdict $? "the node is back"

out=$scratch/both_die
start_grading --only lovelace
at_work; first=$node
kill_node "$first"
second=node$((1 - ${first#node}))
at_work "$second"; kill_node "$second"
finish_grading
verdict "$([[ $code == 8 ]]; echo $?)" "a hand-in is lost twice: exit code $code"
says "... and is not judged" "lovelace.tar.gz: not judged: lost twice, on $first and $second: .*hint: the same command grades it again"
start_node node0; start_node node1; all_idle; verdict $? "both nodes are back"
grade_all "${srun[@]}"
same "the same command goes on"

out=$scratch/stopped
start_grading
at_work; kill -INT "$grading"
finish_grading
verdict "$([[ $code == 130 ]]; echo $?)" "Ctrl-C: exit code $code"
all_idle; verdict $? "... and no node works any more"

out=$scratch/full_disk
kill_node node1; start_node node1 2m; all_idle
hand_in noether.tar.gz '$a // not compiled before'
grade_all --through 'srun -N1 -n1 -c1 --nodelist node1' --only noether
verdict "$([[ $code == 8 ]]; echo $?)" "a node's disk is full: exit code $code"
says "... and the node is named" 'noether.tar.gz: not judged on node1: .*No space left on device'
finish
