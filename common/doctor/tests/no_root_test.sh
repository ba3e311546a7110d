#!/usr/bin/env bash
# ./lab on a Debian 12 that has compilers but no -dev package, for a user without root: with LAB_PREFIX, which ./lab prefix
# fills; then with LAB_LIBTORCH alone, where everything but LibTorch is compiled from its release, Gloo from an unpacked
# source package. Takes half an hour. Needs LAB_SOURCE_DIR and what bare_root.sh needs.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
source "$LAB_SOURCE_DIR/common/testing/bare_root.sh"
make_bare_root || exit 77
in_bare_root 'apt-get update && apt-get install -y --no-install-recommends g++ cmake ninja-build procps xz-utils && useradd --create-home student'
[[ $code == 0 ]] || { tail -n 5 "$scratch/out"; skip "a bare Debian root: its tools could not be installed"; exit 77; }
home=$bare_root/home/student
mkdir "$home/labs" && (cd "$LAB_SOURCE_DIR" && git ls-files -z | xargs -0 cp --parents -t "$home/labs")
in_bare_root 'chown -R student: /home/student'

# student COMMAND: as the user, in the tree.
student() { in_bare_root "runuser -u student -- bash -c 'cd ~/labs && $1'"; }

student './lab --no-install run a4 --nproc 4'
verdict "$([[ $code == 2 ]]; echo $?)" "without LibTorch nothing is built: exit code $code"
says "... and the way without root is named" 'without root: ./lab prefix DIR'

student './lab prefix ~/prefix'
verdict "$code" "./lab prefix unpacks Debian's packages"
verdict "$([[ -f $home/prefix/usr/include/ATen/ATen.h && ! -e $bare_root/usr/include/ATen ]]; echo $?)" "... in this user's folder only"
for lab in a4 vae; do
  student "LAB_PREFIX=~/prefix ./lab run $lab --nproc 4"
  verdict "$code" "LAB_PREFIX: $lab is built and its ranks match: exit code $code"
done
student 'LAB_PREFIX=~/prefix ./lab doctor'
says "... and doctor shows where its parts are" '^ok +torch .*/home/student/prefix/usr/include'
student 'LAB_PREFIX=~/prefix ./lab grade ~/labs --lab a4 --out ~/graded'
verdict "$code" "... and a hand-in is graded there: exit code $code"

# Only LibTorch, and what it needs to run, in the folder that LAB_LIBTORCH names; and Gloo's source, unpacked elsewhere.
student 'mkdir ~/torch && mv ~/prefix/{usr,lib} ~/torch/ && rm -r ~/prefix build && cd ~/torch/usr/include && mkdir keep &&
  mv ATen c10 torch caffe2 gflags glog keep/ && find . -mindepth 1 -maxdepth 1 ! -name keep -exec rm -r {} + && mv keep/* . && rmdir keep'
verdict "$code" "a folder with LibTorch's headers and libraries only"
in_bare_root 'mkdir /home/student/gloo && apt-get install -y --no-install-recommends curl'
for release in $(sed -n 's/^ *RELEASE //p' "$LAB_SOURCE_DIR/common/cmake/dependencies.cmake"); do
  in_bare_root "curl -sfI http://deb.debian.org/debian/pool/main/$release"
  [[ $code == 0 ]] || { skip "LAB_LIBTORCH: Debian's archive does not give out $release"; finish; exit; }
done
release=$(sed -n 's/^ *RELEASE \(g\/gloo.*\)/\1/p' "$LAB_SOURCE_DIR/common/cmake/dependencies.cmake")
in_bare_root "curl -sf http://deb.debian.org/debian/pool/main/$release | tar -xJ -C /home/student/gloo && chown -R student: /home/student/gloo"
verdict "$code" "Gloo's source: $release"
student 'export LAB_LIBTORCH=~/torch FETCHCONTENT_SOURCE_DIR_GLOO=~/gloo; ./lab run a4 --nproc 4'
verdict "$code" "LAB_LIBTORCH: the rest is compiled from releases, and the ranks match: exit code $code"
student './lab run a9 --nproc 4'
verdict "$code" "... and later calls keep to it: exit code $code"
student 'nm -DC --undefined-only build/release/bin/a9_collectives'
verdict "$([[ $code == 0 ]] && ! grep -q 'gloo::' "$scratch/out"; echo $?)" "... with the whole of its own Gloo: none of another library's"
student 'grep -c "^ok" build/release/parts.txt; cat build/release/parts.txt'
says "... Gloo is compiled from the folder that was named" '^own	gloo	/home/student/gloo'
finish
