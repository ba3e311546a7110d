#!/usr/bin/env bash
#SBATCH --job-name=a4_data_tensor --nodes=4 --ntasks-per-node=1 --time=00:10:00
# Runs the lab on 4 ranks of this machine, or on 4 nodes by `sbatch a4_data_tensor/run.sh`: see common/launch/run.sh.
root=$(dirname -- "$(readlink -f -- "$0")")/..
[[ -x $root/lab ]] || root=${SLURM_SUBMIT_DIR:-.}  # Slurm runs a copy
[[ -x $root/lab ]] || root=$root/..  # submitted from the lab's own folder
[[ -x $root/lab ]] || { echo "run.sh: $root/lab is not there: submit from the project's root" >&2; exit 2; }
exec bash "$root/common/launch/run.sh" "$0" a4_data_tensor "$@"
