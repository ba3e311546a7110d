#!/usr/bin/env bash
# student_symbols.sh refuses each workaround that it names, and accepts plain code.
# usage: student_symbols_test.sh COMPILER LIBRARY...     the libraries that hold the classes it refuses
set -uo pipefail
compiler=$1
libraries=("${@:2}")
audit=$(dirname -- "$(readlink -f -- "$0")")/../student_symbols.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# object NAME SOURCE
object() { "$compiler" -std=c++17 -O1 -x c++ -c -o "$scratch/$1.o" - <<<"$2" || exit 2; }

# refuses WHAT SYMBOL SOURCE
refuses() {
  object bad "$3"
  if "$audit" "$scratch/bad.o" >"$scratch/out" 2>&1 || ! grep -qF "bad.o: $2" "$scratch/out"; then
    echo "not refused: $1"
    cat "$scratch/out"
    failures=$((failures + 1))
  fi
}

refuses "an asm label for a library's collective" "gloo::allreduce(gloo::AllreduceOptions&)" \
  'void sum(void*) asm("_ZN4gloo9allreduceERNS_16AllreduceOptionsE"); void f(void* o) { sum(o); }'
refuses "an asm label for a process group" "c10d::ProcessGroup::getRank() const" \
  'int rank_of(void*) asm("_ZNK4c10d12ProcessGroup7getRankEv"); int f(void* g) { return rank_of(g); }'
refuses "an asm label for the ledger" "lab::comm::Ledger::add(lab::LedgerEntry const&)" \
  'void add(void*, void*) asm("_ZN3lab4comm6Ledger3addERKNS_11LedgerEntryE"); void f(void* l, void* e) { add(l, e); }'
refuses "the way to a rank's ledger, declared by hand" "lab::comm::endpoint_of(lab::comm::Communicator&)" \
  'namespace lab::comm { class Communicator; class Endpoint; Endpoint& endpoint_of(Communicator&); }
   void* f(lab::comm::Communicator& comm) { return &endpoint_of(comm); }'
refuses "a rank's descriptor" "lab::rank_seat()" 'namespace lab { struct RankSeat; const RankSeat& rank_seat(); }
   const void* f() { return &lab::rank_seat(); }'
refuses "what runs before all constructors" "a section of type PREINIT_ARRAY: .preinit_array" \
  'void f(); [[gnu::section(".preinit_array"), gnu::used]] void (*first)() = f; void f() {}'
refuses "what runs before other constructors" "a section of type INIT_ARRAY: .init_array.00101" \
  'extern int x; [[gnu::constructor(101)]] void f() { x = 1; }'
refuses "a function chosen by a resolver" "a function chosen when the program is loaded: f" \
  'extern "C" { void g() {} void (*pick())() { return g; } void f() __attribute__((ifunc("pick"))); }'
refuses "a function in place of the C library's" "takes the place of the C library's getenv" \
  'extern "C" char* getenv(const char*) { return nullptr; }'
refuses "a weak one" "takes the place of the C library's fork" \
  'extern "C" __attribute__((weak)) int fork() { return 0; }'
refuses "a symbol looked up at run time" "dlsym" \
  'extern "C" void* dlsym(void*, const char*); void* f() { return dlsym(nullptr, "x"); }'
refuses "a library loaded, through a pointer" "dlopen" \
  'extern "C" void* dlopen(const char*, int); void* (*load)(const char*, int) = dlopen;'
refuses "a weak reference" "fork" \
  'extern "C" __attribute__((weak)) int fork(); int f() { return fork ? fork() : 0; }'
refuses "a socket" "socket" '#include <sys/socket.h>
  int f() { return socket(AF_UNIX, SOCK_STREAM, 0); }'
refuses "a connection" "connect" '#include <sys/socket.h>
  int f(int s, sockaddr* a) { return connect(s, a, 16); }'
refuses "shared memory" "shm_open" '#include <sys/mman.h>
  int f() { return shm_open("/x", 0, 0); }'
refuses "a mapped file" "mmap" '#include <sys/mman.h>
  void* f() { return mmap(nullptr, 1, 1, 1, 0, 0); }'
refuses "another program" "execvp" '#include <unistd.h>
  int f(char** a) { return execvp(a[0], a); }'
refuses "a shell" "system" '#include <cstdlib>
  int f() { return system("true"); }'
refuses "a process that leaves its parent" "daemon" '#include <unistd.h>
  int f() { return daemon(1, 1); }'
refuses "a process on a terminal of its own" "forkpty" '#include <pty.h>
  int f(int* fd) { return forkpty(fd, nullptr, nullptr, nullptr); }'
refuses "a session of its own" "setsid" '#include <unistd.h>
  int f() { return setsid(); }'
refuses "a process group of its own" "setpgid" '#include <unistd.h>
  int f() { return setpgid(0, 0); }'
refuses "a signal to a process group" "killpg" '#include <csignal>
  int f() { return killpg(1, SIGTERM); }'
refuses "a shell, to expand a word" "wordexp" '#include <wordexp.h>
  int f(wordexp_t* w) { return wordexp("$(true)", w, 0); }'
refuses "the end of the process" "exit" '#include <cstdlib>
  void f() { exit(0); }'
refuses "a thread" "std::thread::_M_start_thread" '#include <thread>
  void f() { std::thread([] {}).detach(); }'
refuses "a thread of the C library" "pthread_create" '#include <pthread.h>
  int f(pthread_t* t, void* (*g)(void*)) { return pthread_create(t, nullptr, g, nullptr); }'
refuses "a system call by number" "syscall" '#include <unistd.h>
  long f() { return syscall(57); }'
if [[ $(uname -m) == x86_64 ]]; then
  object bad 'long f(long n) { long r; asm volatile("syscall" : "=a"(r) : "a"(n) : "rcx", "r11"); return r; }'
  if "$audit" "$scratch/bad.o" >/dev/null; then
    echo "not refused: a system call in machine code"
    failures=$((failures + 1))
  fi
fi

# A class that was renamed would be refused under a name that nothing has.
classes=$(sed -nE "s/^insides=.*(lab::[a-z]+::)\(([^)]*)\).*/\1 \2/p" "$audit")
[[ $classes ]] || { echo "the classes of the inside are not found in $audit"; failures=$((failures + 1)); }
members=$(nm -C "${libraries[@]}" 2>/dev/null)
for class in $(tr '|' ' ' <<<"${classes#* }"); do
  [[ $members == *"${classes%% *}$class::"* ]] && continue
  echo "no library has a member of ${classes%% *}$class"
  failures=$((failures + 1))
done

object good '#include <string>
  namespace lab { struct Request { void wait(); }; Request send(const std::string&, int); Request connect(int); }
  void f(const std::string& s) { lab::send(s + "socket gloo", 1).wait(); lab::connect(2).wait(); }'
if ! "$audit" "$scratch/good.o" >"$scratch/out"; then
  echo "refused, but must not be:"
  cat "$scratch/out"
  failures=$((failures + 1))
fi
# 0x6fff4c04: names of libraries for lld; 0x6fff4c02: its options.
for type in 6fff4c04 6fff4c02; do
  refuses "a section for the linker" "a section of type" "asm(\".section .x,\\\"MS\\\",@0x$type,1\\n.asciz \\\"x.a\\\"\\n.text\"); int f() { return 1; }"
done
refuses "a section for the linker, with the name of another type" "a section of type" \
  'asm(".section \".x PROGBITS 0000000000000000 000000 000000 00\",\"MS\",@0x6fff4c04,1\n.asciz \"x.a\"\n.text"); int f();'
object bad 'extern "C" int fork(); int f() { return fork(); }'
ar rcs "$scratch/both.a" "$scratch/good.o" "$scratch/bad.o"
if "$audit" "$scratch/both.a" >"$scratch/out" || ! grep -q 'both.a:bad.o: fork' "$scratch/out"; then
  echo "the offender among the members of an archive is not named"
  cat "$scratch/out"
  failures=$((failures + 1))
fi
"$audit" "$scratch/none.o" >/dev/null && { echo "a file that is not there passes"; failures=$((failures + 1)); }

echo "$failures failures"
[[ $failures == 0 ]]
