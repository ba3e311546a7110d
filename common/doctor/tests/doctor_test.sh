#!/usr/bin/env bash
# ./lab on machines that lack something, played by a PATH with only some programs in it: what is named, and whether the
# advice is true. Needs LAB_SOURCE_DIR.
source "$LAB_SOURCE_DIR/common/testing/program_checks.sh"
root=$LAB_SOURCE_DIR
mkdir "$scratch/tree" && cp -r "$root/lab" "$root/CMakeLists.txt" "$root/CMakePresets.json" "$root/common" "$root/grading" "$scratch/tree/"

# machine PROGRAM...: a folder for PATH with the shell's usual tools and these programs; a program as NAME=TEXT is a
# script that does TEXT.
machine() {
  local program
  rm -rf "$scratch/path" && mkdir "$scratch/path"
  for program in bash awk sed grep sort paste cat cut head tail dirname basename readlink realpath mkdir rm rmdir ln df id \
    env tr wc uname nproc ldconfig sh g++ gcc cc c++ as ld ld.lld ar ranlib make ninja "$@"; do
    if [[ $program == *=* ]]; then printf '#!/bin/sh\n%s\n' "${program#*=}" >"$scratch/path/${program%%=*}" && chmod +x "$scratch/path/${program%%=*}"
    elif command -v "$program" >/dev/null; then ln -sf "$(command -v "$program")" "$scratch/path/"; fi
  done
}
on_machine() { run env -i PATH="$scratch/path" HOME="$scratch" "${vars[@]}" "$BASH" "$scratch/tree/lab" "$@"; }
vars=()
says() { verdict "$(grep -qF -- "$2" "$scratch/out" "$scratch/err"; echo $?)" "$1"; }
old_cmake='echo "cmake version 3.22.1"'

machine dnf=true
on_machine doctor
verdict "$([[ $code == 2 ]]; echo $?)" "without CMake: exit code $code"
says "... it is named, with this system's command" 'dnf install cmake'
on_machine build
verdict "$([[ $code == 2 ]]; echo $?)" "... and a build does not begin: exit code $code"
says "... and says the same" 'missing: cmake; one of these helps'

machine "cmake=$old_cmake"
on_machine doctor
says "a CMake that is too old, and no other: where there is a newer one" "python3 -m pip install --user 'cmake>=3.25'"
mkdir -p "$scratch/newer" && ln -sf "$(command -v cmake)" "$scratch/newer/cmake"
run env -i PATH="$scratch/path:$scratch/newer" HOME="$scratch" "$BASH" "$scratch/tree/lab" doctor
says "a newer one behind it in PATH: the command that takes that one" "PATH=$scratch/newer:\$PATH ./lab build"

machine pacman=true cmake conda=true spack=true
vars=(LAB_LIBTORCH="$scratch/path")
on_machine build
verdict "$([[ $code == 2 ]]; echo $?)" "LAB_LIBTORCH names a folder without LibTorch: exit code $code"
says "... it is named, with what was expected there" "expected a folder with include/ATen/ATen.h and lib/libtorch_cpu.so"
says "... and every manager's command" 'conda install -c conda-forge libtorch'
says "... and every manager's command" 'pacman -S python-pytorch'
vars=(LAB_LIBTORCH="$scratch/nowhere")
on_machine build
says "LAB_LIBTORCH names nothing" "LAB_LIBTORCH=$scratch/nowhere: expected a folder"
vars=()
on_machine --libtorch
says "--libtorch without a folder" "--libtorch needs a folder"
on_machine prefix here
says "a prefix where there is no apt" "prefix unpacks Debian's packages, and there is no apt-get here"

# torchrun's package, its version, and what it and LibTorch depend on; before it, a package that is not installed.
for torch in '2.6.0+dfsg-7 libc6' '2.6.0+dfsg-7 libc6, libuv1t64' '1.13.1+dfsg-4 libc6'; do
  machine torchrun=true "dpkg-query=case \$1 in -S) echo 'python3-torch: /usr/bin/torchrun' ;; *) printf ' \\n%s\\n' '$torch' ;; esac"
  on_machine doctor
  named=$(grep -c 'LibTorch 2.6.0 is built without libuv' "$scratch/out")
  verdict "$([[ $named == "$([[ $torch == 2.6*libc6 ]] && echo 1 || echo 0)" ]]; echo $?)" "a torchrun of $torch: named $named times"
done
machine torchrun=true "dpkg-query=exit 1"
on_machine doctor
verdict "$(! grep -q torchrun "$scratch/out"; echo $?)" "a torchrun of no package is not named"

# A wheel's LibTorch of before 2.6: its configuration says which std::string it has.
old=$scratch/old
mkdir -p "$old/include/ATen" "$old/include/torch" "$old/lib" "$old/share/cmake/Torch"
touch "$old/include/ATen/ATen.h" "$old/include/torch/torch.h" "$old/lib/libtorch_cpu.so" "$old/lib/libc10.so"
printf '#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 4\n#define TORCH_VERSION_PATCH 1\n' >"$old/include/torch/version.h"
echo 'set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=0")' >"$old/share/cmake/Torch/TorchConfig.cmake"
machine cmake
vars=(LAB_LIBTORCH="$old")
on_machine doctor
says "an old std::string is named" "before C++11"
says "... with the version" "2.4.1 in $old/include"
says "... and C++ libraries of the system are not used" "fmt                  not here: a build downloads and compiles its release"
verdict "$(! grep -qE '^ok +(fmt|gloo|pugixml|yaml|sqlite|simgrid) ' "$scratch/out"; echo $?)" "... none of them"
verdict "$(! command -v CLI11 >/dev/null; grep -qE '^(ok|slow) +cli11 ' "$scratch/out"; echo $?)" "... while headers may be"
finish
