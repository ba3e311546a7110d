#!/usr/bin/env bash
# audit_lab.sh names file, line and what to use instead, whether or not the objects have line numbers.
# usage: audit_lab_test.sh COMPILER
set -uo pipefail
compiler=$1
audit=$(dirname -- "$(readlink -f -- "$0")")/../audit/audit_lab.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# A tree with labs that are built in the two ways that CMake has: in a folder of their own, and from the root.
mkdir -p "$scratch/a0_own/student/deep" "$scratch/a1_root/student"
own=$scratch/build/release/a0_own/CMakeFiles/a0_student.dir/student
from_root=$scratch/build/release/CMakeFiles/a1_root.dir/a1_root/student
mkdir -p "$own/deep" "$from_root"

# compiles OPTION SOURCE OBJECT, with the text from standard input
compiles() {
  cat >"$scratch/$2"
  "$compiler" "$1" -O1 -c -o "$3" "$scratch/$2" || exit 2
}

# says WHAT CODE LAB LINE...: the audit of LAB ends with CODE and prints exactly these lines.
says() {
  local code=0
  "$audit" "$scratch" "$3" >"$scratch/out" 2>&1 || code=$?
  printf '%s\n' "${@:4}" | sed '/^$/d' >"$scratch/expected"
  [[ $code == "$2" ]] && diff "$scratch/expected" "$scratch/out" && return
  echo "$1: expected exit code $2 and the lines marked <, got $code"
  failures=$((failures + 1))
}

says "a lab that is not built" 0 a0_own
compiles -g1 a0_own/student/good.cpp "$own/good.cpp.o" <<<'int good(int x) { return x; }'
compiles -g1 a0_own/student/deep/helper.cpp "$own/deep/helper.cpp.o" <<<'int help(); int g() { return help(); } int good(int);'
compiles -g1 a0_own/student/help.cpp "$own/help.cpp.o" <<<'int help() { return 1; }'
says "plain code, with a helper in another file" 0 a0_own

refused() { echo "the grading would refuse these files of $1, and nothing in them would count"; }
note="is not on the list of what student code may use, so whoever grades it has to look first"
note+="; use instead: the lab's headers, tensor functions, the C++ library"
compiles -g1 a0_own/student/deep/helper.cpp "$own/deep/helper.cpp.o" <<'SOURCE'
#include <unistd.h>
int process() {
  int number = 1;
  return number + getpid();
}
SOURCE
says "an unlisted symbol is a note" 0 a0_own \
  "a0_own/student/deep/helper.cpp:4: note: getpid $note"
compiles -g1 a0_own/student/good.cpp "$own/good.cpp.o" <<'SOURCE'
namespace gloo { void barrier(int); }

int good(int x) {
  // not gloo::barrier
  gloo::barrier(x);
  return x;
}
SOURCE
says "a forbidden one is an error, in the line that the object names" 1 a0_own \
  "a0_own/student/deep/helper.cpp:4: note: getpid $note" \
  "a0_own/student/good.cpp:5: gloo::barrier(int): student code must not use it; use instead: the communicator's send, recv and collectives" \
  "$(refused a0_own)"
rm "$scratch/a0_own/student/deep/helper.cpp"
says "the object of a file that is no longer there does not count" 1 a0_own \
  "a0_own/student/good.cpp:5: gloo::barrier(int): student code must not use it; use instead: the communicator's send, recv and collectives" \
  "$(refused a0_own)"

compiles -g0 a1_root/student/forks.cpp "$from_root/forks.cpp.o" <<'SOURCE'
int forks() __asm__("fork");
int f() { return forks(); }
SOURCE
says "without line numbers, the line with its name" 1 a1_root \
  "a1_root/student/forks.cpp:1: fork: student code must not use it; use instead: the ranks that the lab starts" \
  "$(refused a1_root)"
compiles -g0 a1_root/student/forks.cpp "$from_root/forks.cpp.o" <<'SOURCE'
#define JOINED(a, b) a##b
extern "C" int JOINED(fo, rk)();
int f() { return JOINED(fo, rk)(); }
SOURCE
says "... or the file alone" 1 a1_root \
  "a1_root/student/forks.cpp: fork: student code must not use it; use instead: the ranks that the lab starts" \
  "$(refused a1_root)"

cat >"$scratch/torch.h" <<'SOURCE'
#include <string>
namespace torch {
namespace serialize { struct OutputArchive { void save_to(const std::string& file); }; }
inline void save(int, const std::string& file) { serialize::OutputArchive().save_to(file); }
}
SOURCE
compiles -g1 a1_root/student/forks.cpp "$from_root/forks.cpp.o" <<'SOURCE'
#include <filesystem>
#include <fstream>
#include "../../torch.h"
void f() { std::filebuf().open("debug.txt", std::ios::out); }
void h() { torch::save(1, "outputs.pt"); }
bool i() { return std::filesystem::exists("debug"); }
SOURCE
archive='torch::serialize::OutputArchive::save_to(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)'
path='std::filesystem::__cxx11::path const&'
instead='use instead: std::cout to print, or a std::stringstream, also for torch::save and torch::load: no file can be opened where this is graded'
noted='use instead: std::cout, since a file cannot be opened where this is graded'
says "files, which a judged rank does not have, in the lines of those who use them" 1 a1_root \
  "a1_root/student/forks.cpp:6: std::filesystem::status($path): student code must not use it; $instead" \
  "a1_root/student/forks.cpp:5: $archive: student code must not use it; $instead" \
  "a1_root/student/forks.cpp:4: note: std::basic_filebuf<char, std::char_traits<char> >::open(char const*, std::_Ios_Openmode); $noted" \
  "$(refused a1_root)"

echo text >"$from_root/forks.cpp.o"
says "an object that cannot be read" 2 a1_root "these files cannot be read: nm: $from_root/forks.cpp.o: file format not recognized"

echo "$failures failures"
[[ $failures == 0 ]]
