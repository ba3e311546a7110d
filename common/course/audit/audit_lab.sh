#!/usr/bin/env bash
# Tells a student what of a lab's compiled files the grading would refuse, or somebody would have to look at first: file,
# line, symbol, and what to use instead. Exit code 1: something would be refused.
# usage: audit_lab.sh ROOT LAB     the tree, and the folder of a lab whose program build/release/ has
set -uo pipefail
[[ $# == 2 ]] || { echo "usage: audit_lab.sh ROOT LAB"; exit 2; }
root=$1 lab=$2
audit=$(dirname -- "$(readlink -f -- "$0")")/student_symbols.sh

# source_of OBJECT: such as a9_collectives/student/broadcast/flat.cpp.
source_of() {
  local name=${1##*.dir/}
  echo "$lab/${name#"$lab/"}" | sed 's/\.o$//'
}

# line_of SYMBOL SOURCE: of the first line with the last part of its name, or with what students call in its place; nothing
# if there is none.
line_of() {
  local name=${1%%(*} instead=''
  name=${name##*::}
  case $1 in
    torch::serialize::*) instead="|${name%_*}" ;;  # save_to, of torch::save
    std::filesystem::*) instead='|filesystem' ;;
    std::basic_*) instead='|[io]?fstream' ;;
  esac
  grep -nwP -- "\\Q$name\\E$instead" "$root/$2" | sed -nE '/^[0-9]+: *#/!{s/:.*//p;q}'
}

objects=()
while IFS= read -r object; do
  [[ ! -f $root/$(source_of "$object") ]] || objects+=("$object")  # a file that was renamed leaves its object behind
done < <(find "$root/build/release" \( -path "*/$lab/CMakeFiles/*.dir/student/*.o" -o -path "*.dir/$lab/student/*.o" \))
[[ ${#objects[@]} != 0 ]] || exit 0

code=0 refused=''
found=$("$audit" --may-end --lines "${objects[@]}") || code=$?
[[ $code =~ ^[013]$ ]] || { echo "$found"; exit 2; }
while IFS= read -r offence; do
  object=${offence%%.o: *}.o source=$(source_of "${offence%%.o: *}.o") number='' hint=''
  symbol=${offence#"$object": *: }
  if [[ $symbol == *'; use instead: '* ]]; then
    hint=${symbol##*; use instead: } symbol=${symbol%; use instead: *}
  fi
  if [[ $symbol =~ ^(.*)' at '(/.*):([0-9]+)$ ]]; then
    symbol=${BASH_REMATCH[1]}
    [[ ${BASH_REMATCH[2]} != */"$source" ]] || number=${BASH_REMATCH[3]}
  fi
  [[ $number ]] || number=$(line_of "$symbol" "$source")
  if [[ $offence == "$object: forbidden: "* ]]; then
    refused=1
    echo "$source${number:+:$number}: $symbol: student code must not use it; use instead: $hint"
  elif [[ $hint ]]; then
    echo "$source${number:+:$number}: note: $symbol; use instead: $hint"
  else
    echo "$source${number:+:$number}: note: $symbol is not on the list of what student code may use, so whoever grades" \
      "it has to look first; use instead: the lab's headers, tensor functions, the C++ library"
  fi
done < <(grep -E '\.o: (forbidden|noted|unlisted): ' <<<"$found")
[[ $refused ]] || exit 0
echo "the grading would refuse these files of $lab, and nothing in them would count"
exit 1
