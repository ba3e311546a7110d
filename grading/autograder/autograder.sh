# lab autograder PLATFORM LAB: the archive from which a learning platform grades every submission by itself.
# Sourced by grading/commands.sh, whose helpers and those of ./lab it uses.
# shellcheck shell=bash
# shellcheck disable=SC2154  # set by ./lab

readonly autograder_platforms=(gradescope)  # folders next to this file

# settings_of LAB SEED: settings.sh of the archive; SEED may be empty. A rubric lies next to it.
settings_of() {
  local options="--lab $1"
  [[ ! $2 ]] || options+=" --seed $2"
  [[ ! $rubric_file ]] || options+=' --rubric "$autograder/source/rubric.toml"'
  cat <<END
# What this archive grades, and how. Sourced by setup.sh and run_autograder.
graded_lab=$1
grade_options=($options)
END
}

# copy_suite FOLDER: this tree, without what was built in it.
copy_suite() {
  local parts=(CMakeLists.txt CMakePresets.json LICENSE README.md lab common grading) labs
  mapfile -t labs < <(all_labs)
  mkdir -- "$1"
  (cd -- "$root" && cp -R -- "${parts[@]}" "${labs[@]}" "$1/")
}

# fill_in FILE NAME VALUE: each {{NAME}} of the file becomes the value.
fill_in() {
  local text
  text=$(<"$1")
  printf '%s\n' "${text//"{{$2}}"/"$3"}" >"$1"
}

# make_archive PLATFORM LAB FILE SEED
make_archive() {
  local folder=$scratch/archive
  cp -R -- "$root/grading/autograder/$1" "$folder"
  fill_in "$folder/README.md" title "$(sed -n '0,/^title = /s/^title = "\(.*\)"$/\1/p' "$root/$2/rubric.toml")"
  fill_in "$folder/README.md" lab "$2"
  fill_in "$folder/README.md" archive "$(basename -- "$3")"
  settings_of "$2" "$4" >"$folder/settings.sh"
  [[ ! $rubric_file ]] || cp -- "$rubric_file" "$folder/rubric.toml"
  copy_suite "$folder/suite"
  (cd -- "$folder" && cmake -E tar cf "$scratch/archive.zip" --format=zip -- *)
  mv -- "$scratch/archive.zip" "$3"
}

# A seed and a rubric are optional: by default each grading draws its own seed, and the labs' rubrics count.
command_autograder() {
  local platform='' lab='' file='' seed=''
  rubric_file=
  while [[ $# != 0 ]]; do
    case $1 in
      --out=* | --seed=* | --rubric=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
      --out | --seed | --rubric)
        [[ ${2:-} ]] || die "$1: expected a value, got nothing"
        case $1 in --out) file=$2 ;; --seed) seed=$2 ;; --rubric) rubric_file=$2 ;; esac
        shift ;;
      -*) die "autograder does not know '$1'; it knows --out FILE, --rubric FILE and --seed S" ;;
      *)
        if [[ ! $platform ]]; then platform=$1
        elif [[ ! $lab ]]; then lab=$(lab_named "$1") || exit
        else die "autograder takes one platform and one lab; got '$1' as well"; fi ;;
    esac
    shift
  done
  [[ $platform && " ${autograder_platforms[*]} " == *" $platform "* ]] ||
    die "autograder: expected a platform, one of ${autograder_platforms[*]}; got '$platform'"
  [[ $lab ]] || die "autograder $platform: expected a lab, such as: lab autograder $platform a9"
  [[ ! $seed || $seed =~ ^[0-9]{1,18}$ ]] || die "--seed: expected an integer from 0 on, got '$seed'"
  [[ ! $rubric_file ]] || (command_answers "$lab" --rubric "$rubric_file" >/dev/null) || exit
  file=${file:-autograder_${lab%%_*}.zip}
  can_write --out "$file"
  scratch_folder
  make_archive "$platform" "$lab" "$(realpath -- "$file")" "$seed"
  say "$file: $(du -h -- "$file" | cut -f 1) for $platform, with all solutions; its README.md says how to use it"
}
