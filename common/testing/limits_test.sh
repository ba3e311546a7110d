#!/usr/bin/env bash
# ./lab compiles with a job on each core, or with fewer where a container's quota or the memory allows less.
set -uo pipefail
here=$(cd -- "$(dirname -- "$0")" && pwd)
cgroup_mount=$(mktemp -d)
trap 'rm -rf "$cgroup_mount"' EXIT
# shellcheck disable=SC1090
source <(sed -n '/^# cgroup_values FILE/,/^# cached PRESET/p' "$here/../../lab")
nproc() { echo 4; }
num_failed=0
expect() { # expect WHAT GOT EXPECTED
  if [[ $2 == "$3" ]]; then echo "ok      $1"; else
    echo "FAILED  $1: expected $3, got $2"
    num_failed=$((num_failed + 1))
  fi
}

expect "no quota: all cores" "$(usable_cores)" 4
echo "max 100000" >"$cgroup_mount/cpu.max"
expect "an unlimited quota: all cores" "$(usable_cores)" 4
echo "150000 100000" >"$cgroup_mount/cpu.max"
expect "a quota of one and a half: one core" "$(usable_cores)" 1
expect "one core: one job" "$(build_jobs)" 1
echo "50000 100000" >"$cgroup_mount/cpu.max"
expect "a quota of half a core: one core" "$(usable_cores)" 1
echo $((3 << 30)) >"$cgroup_mount/memory.max"
expect "a memory limit" "$(memory_mib)" 3072
echo "max 100000" >"$cgroup_mount/cpu.max"
expect "little memory: one job" "$(build_jobs)" 1
memory_mib() { echo "$memory"; }
memory=65536
expect "much memory: a job on each core" "$(build_jobs)" 4
memory=8000
expect "memory for two compilers: two jobs" "$(build_jobs)" 2
[[ $num_failed == 0 ]]
