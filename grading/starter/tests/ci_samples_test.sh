#!/usr/bin/env bash
# The starter's samples for GitHub and GitLab: their steps as written, in a bare Debian 12, first before anything is
# solved, then with everything solved. Takes a quarter of an hour: everything is compiled, once.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
source "$LAB_SOURCE_DIR/common/testing/bare_root.sh"
starter=$scratch/starter
run "$bin/labstarter" "$starter" --labs a4 --source "$LAB_SOURCE_DIR"
verdict "$code" "a starter of one lab"
run "$bin/ci_steps" "$starter/.github/workflows/labs.yml" "$scratch/github"
verdict "$([[ $code == 0 ]] && grep -qx '3 scripts' "$scratch/out"; echo $?)" "GitHub's sample is YAML, with three steps that run something"
run "$bin/ci_steps" "$starter/.gitlab-ci.yml" "$scratch/gitlab"
verdict "$([[ $code == 0 ]] && grep -qx '1 scripts' "$scratch/out"; echo $?)" "GitLab's sample is YAML, with a script"
[[ ${1:-} == --bare-root ]] || { finish; exit; }
make_bare_root || exit 77

# job SERVICE: a fresh checkout with the cache of the job before it; the steps, whatever became of those before. Leaves
# the exit codes in `codes` and what was printed in $scratch/job.
job() {
  local script place=$bare_root/root/project
  [[ ! -d $place/.ccache ]] || mv "$place/.ccache" "$scratch/ccache"
  rm -rf "$place" && cp -r "$starter" "$place"
  [[ ! -d $scratch/ccache ]] || mv "$scratch/ccache" "$place/.ccache"
  cp -r "$scratch/$1" "$bare_root/root/steps"
  codes=
  : >"$scratch/job"
  rm -f "$bare_root/root/stats"
  for script in "$scratch/$1"/[0-9]*.sh; do
    in_bare_root "cd /root/project && source ../steps/env.sh && exec bash --noprofile --norc -eo pipefail ../steps/$(basename "$script")" \
      CCACHE_STATSLOG=/root/stats
    codes+="$code "
    cat "$scratch/out" >>"$scratch/job"
  done
  rm -r "$bare_root/root/steps"
}
# ends CODES WHAT / prints PATTERN WHAT / has FILE PATTERN WHAT
ends() {
  verdict "$([[ $codes == "$1 " ]]; echo $?)" "$2: exit codes $codes"
  [[ $codes == "$1 " ]] || tail -n 30 "$scratch/job"
}
prints() { verdict "$(grep -qE -- "$1" "$scratch/job"; echo $?)" "$2"; }
has() { verdict "$(grep -qE -- "$2" "$bare_root/root/project/$1"; echo $?)" "$3"; }
# compiled: the files that the last job compiled, as the cache did not have them. CMake tries its compiler on files of
# which each has a name of its own; they are left out.
compiled() { awk '/^# / {file = $2} $1 == "cache_miss" && file !~ /\/CMakeScratch\/|\/CMakeTmp\// {print file}' "$bare_root/root/stats"; }

job github
ends '0 3 0' "GitHub, before anything is solved: the check fails"
prints '^::error file=a4_data_tensor/student/single_step.cpp' "... with annotations of the student files"
prints 'a4_data_tensor has a TODO left' "... and the lab is not run"
has results.xml '<testsuite .*failures="[1-9]' "... the results are there as JUnit XML"
has results.html 'a4.single_step' "... and as a page"
verdict "$([[ $(compiled | wc -l) -gt 20 ]]; echo $?)" "... everything is compiled, $(compiled | wc -l) files"

rm -r "$starter/a4_data_tensor/student" && cp -r "$LAB_SOURCE_DIR/a4_data_tensor/student" "$starter/a4_data_tensor/"
job gitlab
ends '0' "GitLab, with everything solved"
prints 'accepted: exactly the lines of a right run' "... the log is compared"
has results.xml '<testsuite .*failures="0"' "... JUnit XML without failures"
job gitlab
verdict "$([[ $codes == '0 ' && -s $bare_root/root/stats && ! $(compiled) ]]; echo $?)" \
  "with nothing changed, the cache has all that is compiled: not $(compiled | wc -l) files"
compiled | head
finish
