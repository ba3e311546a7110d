# What must be there, and how it gets there. A package manager is only asked to install; whether all is there, CMake finds
# out by trying it. Sourced by ./lab, whose root and options it uses.
# shellcheck shell=bash
# shellcheck disable=SC2154  # set by ./lab

# parts COLUMN GROUP|PART...: this column of the table (part, program, apt, dnf, pacman, conda or spack), where it is not
# "-", of these groups and parts. In a starter nobody judges, and there are no tests.
parts() {
  local groups=" ${*:2} "
  [[ -d $root/grading ]] || groups=${groups// judge / }
  awk -v column="$1" -v wanted="$groups" '
    BEGIN { split("part for program apt dnf pacman conda spack", names); for (i in names) place[names[i]] = i }
    /^#/ || NF < 8 { next }
    (index(wanted, " " $1 " ") || index(wanted, " " $2 " ")) && $place[column] != "-" { print $place[column] }
  ' "$root/common/doctor/packages.txt" | while IFS='|' read -r -a names; do best_name "${names[@]}"; done
}

# best_name NAME...: of several packages the first, if it is installed; else the first that apt knows of, which takes apt a
# second, or none at "-"; else one that is installed; else the first.
best_name() {
  local name
  if [[ $# != 1 && $(not_installed "$1") ]]; then
    for name; do
      [[ $name != - ]] || return 0
      ! apt-cache show "$name" >/dev/null 2>&1 || { echo "$name"; return; }
    done
    for name; do [[ $(not_installed "$name") ]] || { echo "$name"; return; }; done
  fi
  echo "$1"
}

# sudo_word: what a user types before a command that needs root.
sudo_word() { [[ $EUID == 0 ]] || echo "sudo "; }

# may_install: a package manager that this script knows to use, and the right to; not where a prefix replaces it.
may_install() {
  [[ ! $no_install && ! ${LAB_PREFIX:-} ]] && command -v apt-get dpkg-query >/dev/null && { [[ $EUID == 0 ]] || command -v sudo >/dev/null; }
}

# not_installed PACKAGE...: those that dpkg does not have, in the order given.
not_installed() {
  local installed package
  installed=" $(dpkg-query -W -f '${Package}=${db:Status-Status} ' "$@" 2>/dev/null || true) "
  for package; do [[ $installed == *" $package=installed "* ]] || echo "$package"; done
}

# remedies PART...: a command for each way to get these parts on this machine.
remedies() {
  local names found='' manager
  local -A install=([apt]="$(sudo_word)apt-get install -y --no-install-recommends" [dnf]="$(sudo_word)dnf install"
    [pacman]="$(sudo_word)pacman -S" [conda]="conda install -c conda-forge" [spack]="spack install")
  for manager in apt dnf pacman conda spack; do
    command -v "${manager/%apt/apt-get}" >/dev/null || continue
    names=$(parts "$manager" "$@" | paste -sd ' ')
    [[ ! $names ]] || { echo "${install[$manager]} $names"; found=1; }
    [[ $manager != apt ]] || echo "without root: ./lab prefix DIR, then: export LAB_PREFIX=DIR"
  done
  [[ ! ${MODULEPATH:-} ]] || echo "with environment modules: module avail; then: module load gcc cmake ninja"
  [[ " $* " != *" torch "* ]] ||
    echo "or a LibTorch that is somewhere else, such as a wheel's torch/: export LAB_LIBTORCH=DIR"
  [[ $found ]] || echo "no package manager is known here: put them into one folder, then: export LAB_PREFIX=DIR"
}

# die_of_missing PART...: ends, and says how to get them. LibTorch's packages take any BLAS, so the fast one is named.
die_of_missing() {
  [[ " $* " != *" torch "* ]] || set -- "$@" blas
  echo "lab: missing: $*; one of these helps:" >&2
  remedies "$@" | sed 's/^/lab:   /' >&2
  exit 2
}

# missing_packages GROUP|PART...: Debian's. A LibTorch from elsewhere brings its BLAS, and gets its own Gloo.
missing_packages() {
  local elsewhere=''
  [[ ! $(libtorch_elsewhere) ]] || elsewhere=$(parts apt torch blas gloo)
  not_installed $(parts apt "$@") | grep -vxF -- "${elsewhere:- }" || true
}

# ensure GROUP|PART...: installs what is missing, if it may. Otherwise only the tools that building begins with are looked
# for; CMake tries everything else.
ensure() {
  local wanted=("$@") missing=() become=() part program
  [[ $1 != build ]] || wanted=(check-log judge "$@")
  if may_install; then
    mapfile -t missing < <(missing_packages "${wanted[@]}" optional)
  else
    for part in g++ cmake ninja; do
      program=$(parts program "$part")
      command -v "$program" >/dev/null || missing+=("$part")
    done
    [[ ${#missing[@]} == 0 ]] || die_of_missing "${missing[@]}"
  fi
  [[ ${#missing[@]} != 0 ]] || return 0
  [[ $EUID == 0 ]] || become=(sudo)
  local log=$root/build/packages.log start=$SECONDS
  mkdir -p -- "$root/build"
  say "installing missing packages (output of apt-get: $log):"
  "${become[@]}" apt-get update </dev/null >"$log" 2>&1 || {
    tail -n 5 -- "$log" >&2; die "apt-get update failed: see $log; without root: ./lab help prefix"; }
  mapfile -t missing < <(missing_packages "${wanted[@]}" optional)  # their names, now that apt knows which there are
  say "  $(sudo_word)apt-get install -y --no-install-recommends ${missing[*]}"
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends \
    "${missing[@]}" </dev/null >>"$log" 2>&1 || { tail -n 5 -- "$log" >&2; die "apt-get install failed: see $log"; }
  say "packages installed in $((SECONDS - start)) s"
}

# command_prefix DIR: Debian's packages, unpacked into a folder by an ordinary user: all that dpkg has not installed.
command_prefix() {
  [[ $# == 1 && $1 != -* ]] || die "prefix: expected one folder, such as ~/lab-prefix"
  command -v apt-get dpkg-deb >/dev/null || die "prefix unpacks Debian's packages, and there is no apt-get here; ./lab doctor names other ways"
  local folder archive log wanted link system
  mkdir -p -- "$1/packages/lists/partial" "$1/packages/cache/archives/partial"
  folder=$(realpath -- "$1") log=$1/packages/log
  # apt's own folders belong to root; these are this user's.
  local apt=(apt-get -o "Dir::State::lists=$folder/packages/lists" -o "Dir::Cache=$folder/packages/cache"
    -o Debug::NoLocking=true -o APT::Sandbox::User=)
  mapfile -t wanted < <(not_installed $(parts apt check-log build judge doctest patch | grep -vxE 'g\+\+|cmake|ninja-build'))
  [[ ${#wanted[@]} != 0 ]] || { say "nothing is missing: dpkg has all packages installed"; return; }
  wanted+=(patchelf)
  say "downloading into $folder: ${wanted[*]}, and what they need"
  { "${apt[@]}" update && "${apt[@]}" install -y --download-only --no-install-recommends "${wanted[@]}"; } >"$log" 2>&1 </dev/null || {
    tail -n 5 -- "$log" >&2; die "prefix: apt-get failed: see $log"; }
  for archive in "$folder"/packages/cache/archives/*.deb; do dpkg-deb -x "$archive" "$folder" || die "prefix: cannot unpack $archive"; done
  rm -f -- "$folder"/packages/cache/archives/*.deb
  # A package for developers has the link, and the library itself may be installed.
  while IFS= read -r -d '' link; do
    system=$(dirname -- "/${link#"$folder"/}")/$(readlink -- "$link")
    [[ ! -e $system ]] || ln -sf -- "$system" "$link"
  done < <(find "$folder" -name '*.so*' -xtype l -print0)
  # Where a library has a RUNPATH of its own, what it needs is not searched for where the program says.
  while IFS= read -r -d '' archive; do
    ! grep -q RUNPATH <<<"$(readelf -d "$archive" 2>/dev/null)" || PATH=$folder/usr/bin:$PATH patchelf --remove-rpath "$archive"
  done < <(find "$folder" -name '*.so*' -type f -print0)
  say "unpacked; from now on: export LAB_PREFIX=$folder"
}
