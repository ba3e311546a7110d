#!/usr/bin/env bash
# Builds the image of .devcontainer/Dockerfile from a minimal Debian 12 with buildah, which needs no daemon, and runs a lab
# in it. Takes a quarter of an hour: everything is compiled. Needs LAB_SOURCE_DIR and what bare_root.sh needs.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
source "$LAB_SOURCE_DIR/common/testing/bare_root.sh"
command -v buildah >/dev/null || { skip "the image: package buildah is not installed"; exit 77; }
make_bare_root || exit 77
mkdir "$scratch/tree" "$scratch/run"
(cd "$LAB_SOURCE_DIR" && git ls-files -z | xargs -0 cp --parents -t "$scratch/tree")
mkdir "$scratch/tree/build" && touch "$scratch/tree/build/of_this_machine"

images() {
  code=0
  buildah --root "$scratch/storage" --runroot "$scratch/run" --storage-driver vfs "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
}
# in_image COMMAND: with bash in a container of the image, where and as whom it starts; leaves its output and $code.
in_image() { images run --isolation chroot "$container" bash -c "$1"; }

images from scratch
container=$(<"$scratch/out")
images copy --quiet "$container" "$bare_root" /
images commit --quiet --rm "$container" docker.io/library/debian:12
verdict "$code" "a minimal Debian 12 as the image that the Dockerfile begins with"
images bud --isolation chroot --pull-never --file "$scratch/tree/.devcontainer/Dockerfile" --tag labs "$scratch/tree"
verdict "$code" "the image is built"
[[ $code == 0 ]] || { tail -n 30 "$scratch/out" "$scratch/err"; finish; exit 1; }
images from --pull-never labs
container=$(<"$scratch/out")

in_image 'id -un; pwd; ls build'
verdict "$([[ $(head -n 2 "$scratch/out") == $'student\n/home/student/labs' ]]; echo $?)" "it starts as an ordinary user, in the tree"
verdict "$(! grep -q of_this_machine "$scratch/out"; echo $?)" "... into which no build of this machine was copied"
in_image 'before=$(ls -l --time-style=full-iso build/release/bin); ./lab build && [[ $before == "$(ls -l --time-style=full-iso build/release/bin)" ]]'
verdict "$code" "... with all programs built"
in_image './lab run a4'
verdict "$code" "a lab runs in it: exit code $code"
accepts "... and its log is as expected" a4_data_tensor 4
finish
