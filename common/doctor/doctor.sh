# What ./lab doctor does: a table of this machine's parts (ok, slow, low, missing, unknown) and commands that fix them.
# Sourced by ./lab, whose root, package lists and helpers it uses.
# shellcheck shell=bash
# shellcheck disable=SC2154  # set by ./lab

# row STATE PART NOTE [COMMAND]: one line, and below it the command that fixes the part.
row() {
  printf '%-8s %-20s %s\n' "$1" "$2" "$3"
  [[ ! ${4:-} ]] || printf '%-8s %-20s   %s\n' "" "" "$4"
}

# field NAME TEXT: the value of NAME= in the probe's output.
field() { sed -n "s/^$1=//p" <<<"$2"; }

# A bare measurement: one thread, and none of the variables with which the labs or a user choose a kernel.
probe() { env -u OPENBLAS_CORETYPE -u ONEDNN_MAX_CPU_ISA OPENBLAS_NUM_THREADS=1 "$@" "$root/build/release/bin/lab_probe"; }

doctor_packages() {
  local package missing
  mapfile -t missing < <(missing_of "${program_packages[@]}")
  required_missing=${#missing[@]}
  if ((required_missing == 0)); then row ok packages "the ${#program_packages[@]} that building needs"
  else row missing packages "${missing[*]}" "${install}${missing[*]}"; fi
  for package in $(missing_of "${faster_packages[@]}"); do row slow "$package" "linking takes several times longer" "${install}$package"; done
  for package in $(missing_of "${test_packages[@]}"); do row missing "$package" "only lab test needs it, and installs it" "${install}$package"; done
  for package in gdb bubblewrap; do
    local use="--debug-rank" program=gdb
    [[ $package == gdb ]] || use="running other people's code in a sandbox" program=bwrap
    if command -v "$program" >/dev/null; then row ok "$package" "for $use"
    else row missing "$package" "optional: $use" "${install}$package"; fi
  done
}

doctor_tools() {
  local version library name
  if version=$(cmake --version 2>/dev/null | sed -n '1s/.*version //p') && [[ $version ]]; then
    if printf '3.25\n%s\n' "$version" | sort -VC; then row ok CMake "$version"
    else
      row missing CMake "$(command -v cmake) is $version, 3.25 is needed: use Debian's" "PATH=/usr/bin:\$PATH ./lab build"
      required_missing=$((required_missing + 1))
    fi
  fi
  library=$(ldconfig -p | awk '$1 == "libblas.so.3" && !found++ {print $NF}')  # reads all: see pipefail
  if [[ $library ]]; then
    name=$(readlink -f -- "$library")
    case $name in
      *openblas* | *mkl* | *blis*) row ok BLAS "$name" ;;
      *) row slow BLAS "$name is the reference BLAS, 30 to 70 times slower than OpenBLAS" \
        "${install}libopenblas0-pthread && ${sudo}update-alternatives --auto libblas.so.3-$(basename -- "$(dirname -- "$library")")" ;;
    esac
  fi
}

doctor_cpu() {
  local bare mended core best bfloat16
  if [[ ! -x $root/build/release/bin/lab_probe ]]; then
    row unknown "CPU kernels" "the probe is not built yet" "./lab build && ./lab doctor"
    return
  fi
  if ! bare=$(probe 2>&1); then
    row unknown "CPU kernels" "the probe failed: $(tail -n 1 <<<"$bare")" "rm -r build/release && ./lab build"
    return
  fi
  core=$(field blas_core "$bare") best=$(field cpu_best_core "$bare") bfloat16=$(field bfloat16 "$bare")
  if [[ $(readlink -f -- "$(field blas "$bare")") != *openblas* ]]; then
    row unknown "OpenBLAS kernel" "another BLAS is active: $(field gflops "$bare") GFLOP/s on one thread"
  elif [[ $core == Prescott && $best != Prescott ]]; then
    mended=$(field gflops "$(probe OPENBLAS_CORETYPE="$best")")
    row slow "OpenBLAS kernel" "does not recognize this CPU and uses $core: $(field gflops "$bare") GFLOP/s on one thread, $mended with $best." \
      "The labs choose $best themselves; for other programs: export OPENBLAS_CORETYPE=$best"
  else row ok "OpenBLAS kernel" "$core, $(field gflops "$bare") GFLOP/s on one thread"; fi
  case $bfloat16 in
    works) row ok bfloat16 "products are correct" ;;
    needs*) row slow bfloat16 "by default a product crashes with an illegal instruction" "export ${bfloat16#needs }" ;;
    *) row missing bfloat16 "optional: a product $bfloat16" "use float32, or a newer LibTorch (-DCMAKE_PREFIX_PATH=...)" ;;
  esac
}

doctor_machine() {
  local mib
  if unshare -U true 2>/dev/null; then row ok "user namespaces" "for the sandbox"
  else
    local remedy="not from inside: run outside the container, or start it with --security-opt seccomp=unconfined"
    if [[ $(cat /proc/sys/kernel/unprivileged_userns_clone 2>/dev/null) == 0 ]]; then remedy="${sudo}sysctl -w kernel.unprivileged_userns_clone=1"
    elif [[ $(cat /proc/sys/kernel/apparmor_restrict_unprivileged_userns 2>/dev/null) == 1 ]]; then remedy="${sudo}sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    elif [[ $(cat /proc/sys/user/max_user_namespaces 2>/dev/null) == 0 ]]; then remedy="${sudo}sysctl -w user.max_user_namespaces=15000"; fi
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
  local required_missing=0 sudo install
  sudo=$(sudo_word) install="$(sudo_word)apt-get install -y --no-install-recommends "
  doctor_packages
  doctor_tools
  doctor_cpu
  doctor_machine
  [[ $required_missing == 0 ]] || { say "$required_missing required part(s) missing" >&2; return 2; }
}
