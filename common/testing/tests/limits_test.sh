#!/usr/bin/env bash
# ./lab compiles with a job on each core, or with fewer where a container's quota or the memory allows less.
set -uo pipefail
cgroup=$(mktemp -d)
trap 'rm -rf "$cgroup"' EXIT
# shellcheck disable=SC1090
source <(sed -n '/^# memory_mib/,/^# cached PRESET/p' "$(dirname -- "$0")/../../../lab")
nproc() { echo 4; }
awk() { echo $((64 << 20)); }  # KiB of memory
num_failed=0
expect() { # expect WHAT EXPECTED
  [[ $(build_jobs) == "$2" ]] && return
  echo "FAILED  $1: expected $2 jobs, got $(build_jobs)"
  num_failed=$((num_failed + 1))
}

expect "no quota, much memory" 4
echo "max 100000" >"$cgroup/cpu.max"
echo max >"$cgroup/memory.max"
expect "unlimited" 4
echo "150000 100000" >"$cgroup/cpu.max"
expect "a quota of one and a half cores" 1
echo "50000 100000" >"$cgroup/cpu.max"
expect "a quota of half a core" 1
echo "max 100000" >"$cgroup/cpu.max"
echo $((3 << 30)) >"$cgroup/memory.max"
expect "memory for one compiler" 1
echo $((8000 << 20)) >"$cgroup/memory.max"
expect "memory for two" 2
[[ $num_failed == 0 ]]
