# lab autograder PLATFORM LAB: the archive from which a learning platform grades every submission by itself.
# Sourced by grading/commands.sh, whose helpers and those of ./lab it uses.
# shellcheck shell=bash
# shellcheck disable=SC2154  # set by ./lab

# make_archive PLATFORM LAB FILE SEED RUBRIC: the last two may be empty.
make_archive() {
  local folder=$scratch/archive text labs options="--lab $2"
  [[ ! $4 ]] || options+=" --seed $4"
  cp -R -- "$root/grading/autograder/$1" "$folder"
  [[ ! $5 ]] || { options+=' --rubric "$autograder/source/rubric.toml"'; cp -- "$5" "$folder/rubric.toml"; }
  printf '# What this archive grades, and how. Sourced by setup.sh and run_autograder.\ngraded_lab=%s\ngrade_options=(%s)\n' \
    "$2" "$options" >"$folder/settings.sh"
  text=$(<"$folder/README.md")
  text=${text//'{{title}}'/"$(sed -n '0,/^title = /s/^title = "\(.*\)"$/\1/p' "$root/$2/rubric.toml")"}
  text=${text//'{{lab}}'/"$2"}
  printf '%s\n' "${text//'{{archive}}'/"$(basename -- "$3")"}" >"$folder/README.md"
  mapfile -t labs < <(all_labs)
  mkdir -- "$folder/suite"
  (cd -- "$root" && cp -R -- CMakeLists.txt CMakePresets.json LICENSE README.md lab common grading "${labs[@]}" "$folder/suite/")
  (cd -- "$folder" && cmake -E tar cf "$scratch/archive.zip" --format=zip -- *)
  mv -- "$scratch/archive.zip" "$3"
}

# A seed and a rubric are optional: by default each grading draws its own seed, and the labs' rubrics count.
command_autograder() {
  local platform=${1:-} lab=${2:-} file='' seed='' rubric=''
  [[ $platform == gradescope ]] || die "autograder: expected a platform, one of gradescope; got '$platform'"
  [[ $lab ]] || die "autograder $platform: expected a lab, such as: lab autograder $platform a9"
  lab=$(lab_named "$lab") || exit
  shift 2
  while [[ $# != 0 ]]; do
    case $1 in
      --out=* | --seed=* | --rubric=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
      --out) file=${2:-} ;;
      --seed) seed=${2:-} ;;
      --rubric) rubric=${2:-} ;;
      -*) die "autograder does not know '$1'; it knows --out FILE, --rubric FILE and --seed S" ;;
      *) die "autograder takes one platform and one lab; got '$1' as well" ;;
    esac
    [[ ${2:-} ]] || die "$1: expected a value, got nothing"
    shift 2
  done
  [[ ! $seed || $seed =~ ^[0-9]{1,18}$ ]] || die "--seed: expected an integer from 0 on, got '$seed'"
  [[ ! $rubric ]] || (judge answers "$lab" --rubric "$rubric" >/dev/null) || exit
  file=${file:-autograder_${lab%%_*}.zip}
  { : >>"$file"; } 2>/dev/null || die "--out: cannot write $file"
  make_scratch_folder
  make_archive "$platform" "$lab" "$(realpath -- "$file")" "$seed" "$rubric"
  say "$file: $(du -h -- "$file" | cut -f 1) for $platform, with all solutions; its README.md says how to use it"
}
