# What ./lab doctor does: a table of this machine's parts (ok, slow, low, missing, unknown) and commands that fix them.
# Sourced by ./lab, whose root, package lists and helpers it uses.
# shellcheck shell=bash
# shellcheck disable=SC2154  # set by ./lab

# row STATE PART NOTE [COMMAND]: one line, and below it the command that fixes the part.
row() {
  printf '%-8s %-20s %s\n' "$1" "$2" "$3"
  [[ ! ${4:-} ]] || printf '%-8s %-20s   %s\n' "" "" "$4"
}

# remedy PART...: the first command that installs these parts here.
remedy() { remedies "$@" | head -n 1; }

# has_cmake: whether this cmake is new enough.
has_cmake() { printf '3.25\n%s\n' "$("$1" --version 2>/dev/null | sed -n '1s/.*version //p')" | sort -VC; }

doctor_tools() {
  local part program cmake other state text
  for part in g++ cmake ninja; do
    program=$(command -v "$(parts program "$part")") && continue
    row missing "$part" "nothing can be built" "$(remedy "$part")"
    required_missing=$((required_missing + 1))
  done
  if cmake=$(command -v cmake); then
    if has_cmake "$cmake"; then row ok CMake "$("$cmake" --version | sed -n '1s/.*version //p')"
    else
      required_missing=$((required_missing + 1))
      for other in $(type -ap cmake); do ! has_cmake "$other" || break; done
      if has_cmake "$other"; then other="PATH=$(dirname -- "$other"):\$PATH ./lab build"
      else other="python3 -m pip install --user 'cmake>=3.25', or unpack one from https://cmake.org/download; put its bin/ first in PATH"; fi
      row missing CMake "$cmake is $("$cmake" --version | sed -n '1s/.*version //p'), 3.25 is needed" "$other"
    fi
  fi
  while IFS=: read -r state part program text; do
    if command -v "$program" >/dev/null; then row ok "$part" "for $text"
    else row "$state" "$part" "not here, for $text" "$(remedy "$part")"; fi
  done <<'TEXT'
missing:gdb:gdb:--debug-rank (optional)
missing:bubblewrap:bwrap:running other people's code in a sandbox (optional)
missing:gnuplot:gnuplot:charts (optional)
missing:rsvg:rsvg-convert:pictures as PNG and PDF (optional)
slow:lld:ld.lld:linking in a fraction of the time (optional)
TEXT
}

# Libraries, as CMake finds and tries them.
doctor_parts() {
  local state part text options=()
  ((required_missing == 0)) || { row unknown libraries "not tried without a compiler and CMake"; return; }
  [[ ! ${LAB_PREFIX:-} ]] || options+=("-DLAB_PREFIX=$LAB_PREFIX")
  [[ ! $(libtorch_elsewhere) ]] || options+=("-DLAB_LIBTORCH=$(libtorch_elsewhere)")
  rm -rf -- "$root/build/doctor"
  cmake -S "$root" -B "$root/build/doctor" -G Ninja -DLAB_ONLY_PROBE=ON -DFETCHCONTENT_FULLY_DISCONNECTED=ON \
    -DBUILD_TESTING="$has_tests" "${options[@]}" >"$root/build/doctor.log" 2>&1 || true
  [[ -f $root/build/doctor/parts.txt ]] || {
    row missing libraries "CMake could not try them: see build/doctor.log"; required_missing=$((required_missing + 1)); return; }
  while IFS=$'\t' read -r state part text; do
    case $state in
      off) row missing "$part" "optional: $text" "$(remedy "$part")" ;;
      missing)
        if [[ $part == torch || $text != *FETCHCONTENT_FULLY_DISCONNECTED* ]]; then required_missing=$((required_missing + 1)); row missing "$part" "$text" "$(remedy "$part")"
        else row slow "$part" "not here: a build downloads and compiles its release" "$(remedy "$part")"; fi ;;
      own) row ok "$part" "compiled from $text" ;;
      *) row ok "$part" "$text" ;;
    esac
  done <"$root/build/doctor/parts.txt"
}

doctor_blas() {
  local library name
  library=$(ldconfig -p | awk '$1 == "libblas.so.3" && !found++ {print $NF}')  # reads all: see pipefail
  [[ $library ]] || return 0
  name=$(readlink -f -- "$library")
  if [[ $name =~ openblas|mkl|blis ]]; then row ok BLAS "$name"
  else row slow BLAS "$name is the reference BLAS, 30 to 70 times slower than OpenBLAS" \
    "$(remedy blas) && ${sudo}update-alternatives --auto libblas.so.3-$(basename -- "$(dirname -- "$library")")"; fi
}

# Debian's torchrun of 2.4 and later wants a libuv that its LibTorch may be built without: see common/launch/README.md.
doctor_torchrun() {
  local program packages
  program=$(command -v torchrun) && [[ $(dpkg-query -S "$(readlink -f -- "$program")" 2>/dev/null) == python3-torch* ]] || return 0
  packages=$(dpkg-query -W -f '${Version} ${Depends}\n' python3-torch 'libtorch[0-9]*' 2>/dev/null | grep '^[0-9]' || true)  # the others are not installed
  [[ $packages != *libuv* ]] && printf '2.4\n%s\n' "${packages%%[ +-]*}" | sort -VC || return 0
  row missing torchrun "optional: its LibTorch ${packages%%[ +-]*} is built without libuv, so it starts only with its rendezvous in a file" \
    "TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 torchrun --no_python --rdzv_backend c10d --rdzv_conf store_type=file --nproc_per_node 4 PROGRAM"
}

doctor_machine() {
  local mib setting remedy="not from inside: run outside the container, or start it with --security-opt seccomp=unconfined"
  if unshare -U true 2>/dev/null; then row ok "user namespaces" "for the sandbox"
  else
    for setting in user.max_user_namespaces=0:15000 kernel.apparmor_restrict_unprivileged_userns=1:0 kernel.unprivileged_userns_clone=0:1; do
      local name=${setting%%=*} values=${setting#*=}
      [[ $(cat "/proc/sys/${name/.//}" 2>/dev/null) != "${values%:*}" ]] || remedy="${sudo}sysctl -w $name=${values#*:}"
    done
    row missing "user namespaces" "optional: for the sandbox" "$remedy"
  fi
  mib=$(($(df -Pk -- "$root" | awk 'NR == 2 {print $4}') / 1024))
  if ((mib >= 4096)); then row ok disk "$((mib / 1024)) GiB free"
  else row low disk "$mib MiB free, 4 GiB recommended" "rm -rf build/dev build/asan; ${sudo}apt-get clean"; fi
  mib=$(memory_mib)
  if ((mib >= 4096)); then row ok memory "$mib MiB, so $(build_jobs) build job(s)"
  else row low memory "$mib MiB, 4 GiB recommended" "${sudo}sh -c 'fallocate -l 4G /swapfile && chmod 600 /swapfile && mkswap /swapfile && swapon /swapfile'"; fi
}

doctor() {
  [[ $# == 0 ]] || die "doctor takes no arguments"
  local required_missing=0 sudo
  sudo=$(sudo_word)
  mkdir -p -- "$root/build"
  doctor_tools
  doctor_parts
  doctor_blas
  doctor_torchrun
  doctor_machine
  [[ $required_missing == 0 ]] || { say "$required_missing required part(s) missing" >&2; return 2; }
}
