#!/usr/bin/env bash
# Run once, as root, when the image is built: installs the packages, builds the suite, and grades the suite's own
# solution, whose tasks must all pass. That also leaves compiled what every grading needs.
set -euo pipefail
autograder=${AUTOGRADER:-/autograder}
source "$autograder/source/settings.sh"

system=$(source /etc/os-release; echo "$ID $VERSION_ID")
[[ $system == 'debian 12' || $system == 'debian 13' ]] || {
  echo "setup.sh: expected Debian 12 or 13, which have all packages of the suite; this image is $system" >&2
  echo "hint: build an image from the archive's Dockerfile and let the platform use that; the archive's README.md says how" >&2
  exit 1
}
apt-get update
apt-get install -y --no-install-recommends ca-certificates jq

scratch=$(mktemp -d)
hand_in=$scratch/hand_in results=$scratch/results
mkdir -- "$hand_in"
cp -R -- "$autograder/source/suite/$graded_lab" "$hand_in/"
"$autograder/source/suite/lab" grade "$hand_in" "${grade_options[@]}" --out "$results"
jq -e '[.tests[] | select(.tags == ["task"]) | .status] | length > 0 and all(. == "passed")' \
  "$results/$graded_lab/results.json" >/dev/null || {
  echo "setup.sh: expected that the suite's own solution passes every task of $graded_lab; this is what it got:" >&2
  cat -- "$results/$graded_lab/report.md" >&2
  exit 1
}
rm -rf -- "$scratch"
echo "setup.sh: ready to grade $graded_lab on $system"
