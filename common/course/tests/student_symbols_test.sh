#!/usr/bin/env bash
# student_symbols.sh refuses each workaround that it names, accepts plain code, and wants a look at the rest.
# usage: student_symbols_test.sh COMPILER LIBRARY...     the libraries that hold the classes it refuses
set -uo pipefail
compiler=$1
libraries=("${@:2}")
rules=$(dirname -- "$(readlink -f -- "$0")")/../audit
audit=$rules/student_symbols.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# object NAME SOURCE
object() { "$compiler" -std=c++17 -O1 -x c++ -c -o "$scratch/$1.o" - <<<"$2" || exit 2; }

# expect WHAT CODE LINE ARGUMENT...: the audit ends with CODE, and prints a line that begins like LINE, if there is one.
expect() {
  local code=0
  "$audit" "${@:4}" >"$scratch/out" 2>&1 || code=$?
  if [[ $code != "$2" ]] || ! grep -qF -- "$3" "$scratch/out"; then
    echo "$1: expected exit code $2 and '$3'; got $code and"
    cat "$scratch/out"
    failures=$((failures + 1))
  fi
}

# refuses WHAT SYMBOL SOURCE
refuses() {
  object bad "$3"
  expect "$1" 1 "bad.o: forbidden: $2" "$scratch/bad.o"
}

# wants_a_look WHAT SYMBOL SOURCE
wants_a_look() {
  object strange "$3"
  expect "$1" 3 "strange.o: unlisted: $2" "$scratch/strange.o"
}

# accepts WHAT SOURCE
accepts() {
  object good "$2"
  expect "$1" 0 "0 symbols that student code must not use, and 0 " "$scratch/good.o"
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
refuses "work that is not counted" "lab::set_work_owner(lab::WorkAccount*)" \
  'namespace lab { class WorkAccount; void set_work_owner(WorkAccount*); } void f() { lab::set_work_owner(nullptr); }'
refuses "what runs before all constructors" "a section of type PREINIT_ARRAY: .preinit_array" \
  'void f(); [[gnu::section(".preinit_array"), gnu::used]] void (*first)() = f; void f() {}'
refuses "what runs before other constructors" "a section of type INIT_ARRAY: .init_array." \
  'extern int x; [[gnu::constructor(101)]] void f() { x = 1; }'
object bad 'int x;'
printf x >"$scratch/x" && objcopy --add-section $'.rodata.x\n.incbin "x"='"$scratch/x" "$scratch/bad.o"
expect "a section whose name is the assembler's business" 1 'bad.o: forbidden: a section of type PROGBITS: .rodata.x^J.incbin "x"' "$scratch/bad.o"
refuses "a function chosen by a resolver" "a function chosen when the program is loaded: f" \
  'extern "C" { void g() {} void (*pick())() { return g; } void f() __attribute__((ifunc("pick"))); }'
refuses "a function in place of the C library's" "takes the place of the C library's getenv" \
  'extern "C" char* getenv(const char*) { return nullptr; }'
refuses "a weak one" "takes the place of the C library's fork" \
  'extern "C" __attribute__((weak)) int fork() { return 0; }'
refuses "an allocator for everything" "takes the place of the C++ library's operator new(unsigned long)" \
  '#include <cstdlib>
   void* operator new(std::size_t size) { return std::malloc(size); }'
refuses "a weak one" "takes the place of the C++ library's operator delete[](void*, std::nothrow_t const&)" \
  '#include <new>
   __attribute__((weak)) void operator delete[](void*, const std::nothrow_t&) noexcept {}'
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
refuses "a file in shared memory, as LibTorch's inline function calls it" "at::_ops::from_file::call(int)" \
  'namespace at::_ops { struct from_file { static void call(int); }; } void f() { at::_ops::from_file::call(1); }'
refuses "an operator past where it is counted" "at::_ops::mm::redispatch(int)" \
  'namespace at::_ops { struct mm { static void redispatch(int); }; } void f() { at::_ops::mm::redispatch(1); }'
refuses "an operator that nothing records" "at::enableRecordFunction(bool)" \
  'namespace at { void enableRecordFunction(bool); } void f() { at::enableRecordFunction(false); }'
refuses "the state of a thread without its callbacks" "at::ThreadLocalState::setThreadLocalState(int)" \
  'namespace at { struct ThreadLocalState { static void setThreadLocalState(int); }; } void f() { at::ThreadLocalState::setThreadLocalState(1); }'
refuses "a folder that is made" "std::filesystem::create_directories(" '#include <filesystem>
  void f() { std::filesystem::create_directories("x"); }'
refuses "a folder that is read" "std::filesystem::__cxx11::directory_iterator::directory_iterator(" '#include <filesystem>
  bool f() { return std::filesystem::directory_iterator(".") == std::filesystem::directory_iterator(); }'
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
  refuses "a system call in machine code" "a system call in machine code: " \
    'long f(long n) { long r; asm volatile("syscall" : "=a"(r) : "a"(n) : "rcx", "r11"); return r; }'
  refuses "the way to make one of 32 bits" "a system call in machine code: " \
    'void f() { asm volatile("int $0x80" ::: "rax", "memory"); }'
  refuses "the other way" "a system call in machine code: " 'void f() { asm volatile("sysenter" ::: "memory"); }'
  refuses "one among data that look like one" "a system call in machine code: " \
    'extern const char text[] = "\x0f\x05 \xcd\x80";
    inline void g() { asm volatile("syscall" ::: "rax", "rcx", "r11", "memory"); }
    void f() { g(); }'
  accepts "numbers whose bytes are those of a system call" 'int f() { return 0x050f; }
    int g() { return 0x340f + 0x10000; }
    extern const char text[] = "\x0f\x05 \xcd\x80";'
fi

# A class that was renamed would be refused under a name that nothing has.
classes=$(sed -nE "s/.*(lab::[a-z]+::)\((Endpoint[^)]*)\)::.*/\1 \2/p" "$rules/forbidden_symbols.txt")
[[ $classes ]] || { echo "forbidden_symbols.txt: the classes of the inside are not found"; failures=$((failures + 1)); }
members=$(nm -C "${libraries[@]}" 2>/dev/null)
for class in $(tr '|' ' ' <<<"${classes#* }"); do
  [[ $members == *"${classes%% *}$class::"* ]] && continue
  echo "no library has a member of ${classes%% *}$class"
  failures=$((failures + 1))
done

accepts "an allocator of a class, and a place" '#include <new>
  struct Pooled { static void* operator new(std::size_t size); };
  void* Pooled::operator new(std::size_t size) { return ::operator new(size); }
  int* f(void* place) { return new (place) int(1); }'
accepts "names like forbidden ones" '#include <string>
  namespace lab { namespace a1 { struct Request { void wait(); }; Request send(const std::string&, int); Request connect(int); } }
  void f(const std::string& s) { lab::a1::send(s + "socket gloo", 1).wait(); lab::a1::connect(2).wait(); }'
accepts "the C++ library, what it calls, and what is thrown" '#include <chrono>
  #include <cmath>
  #include <cstdio>
  #include <functional>
  #include <iostream>
  #include <map>
  #include <mutex>
  #include <stdexcept>
  #include <string>
  #include <thread>
  std::mutex mutex;
  double f(std::map<std::string, std::function<double(double)>>& m, double x, long n) {
    std::lock_guard<std::mutex> lock(mutex);
    static const std::string name = std::to_string(n);
    std::this_thread::sleep_for(std::chrono::milliseconds(n));
    std::cout << name << x << (name < "b") << std::endl;
    std::printf("%s %g\n", name.c_str(), std::tgamma(x) + std::fmod(x, 3) + std::lround(x) + std::exp2f(2));
    if (n == 1) throw 1;
    if (n == 2) throw "two";
    if (n == 3) throw std::out_of_range(name);
    try { return m.at(name)(static_cast<double>(static_cast<__int128>(n) * n / 7)); } catch (const std::exception& e) { std::fputs(e.what(), stderr); }
    return 0;
  }'
accepts "paths, and streams in memory" '#include <filesystem>
  #include <sstream>
  std::string f(int x) { std::ostringstream s; s << x; return (std::filesystem::path("a") / s.str()).filename().string(); }'
object good '#include <fstream>
  void f() { std::ofstream("x") << 1; }'
expect "a file that does not open, and says so to nobody" 0 "good.o: noted: std::basic_" "$scratch/good.o"
# As LibTorch 2.6 and 1.13 declare them.
accepts "LibTorch by pattern" '#include <ostream>
  #include <string>
  namespace c10 {
  template <typename T> struct ArrayRef {};
  struct SymInt { long guard_int(const char*, long) const; SymInt operator+(const SymInt&) const; };
  namespace detail { [[noreturn]] void torchCheckFail(const char*, const char*, unsigned, const std::string&); }
  struct Scalar { double toDouble() const; operator double() const; };
  }
  namespace at {
  struct Tensor { template <typename T> T item() const; };
  std::string& operator<<(std::string&, const Tensor&);
  namespace _ops { struct view { static Tensor call(const Tensor&, c10::ArrayRef<c10::SymInt>); }; }
  }
  namespace torch {
  namespace nn { struct Module { virtual ~Module(); virtual void train(bool); }; struct Mine : Module { void train(bool) override; }; void Mine::train(bool on) { Module::train(on); } }
  namespace optim { struct Adam { void step(); }; }
  namespace serialize { struct OutputArchive { void save_to(std::ostream&); }; }
  namespace dynamo::autograd { struct SwapSavedVariables { void before(c10::SymInt&); }; }
  }
  double f(at::Tensor& t, c10::SymInt& n, c10::Scalar& s, std::string& text, std::ostream& out, torch::optim::Adam& adam) {
    at::_ops::view::call(t, {}); adam.step(); at::operator<<(text, t);
    torch::serialize::OutputArchive().save_to(out);
    torch::dynamo::autograd::SwapSavedVariables().before(n);
    if (n.guard_int("", 1) == 0) c10::detail::torchCheckFail("", "", 1, text);
    (n + n).guard_int("", 2);
    return t.item<double>() + s.toDouble() + double(s);
  }'

# Harmless or not: not on the list.
wants_a_look "a setting of LibTorch" "at::Context::setDeterministicAlgorithms" \
  'namespace at { struct Context { void setDeterministicAlgorithms(bool, bool); }; } void f(at::Context& c) { c.setDeterministicAlgorithms(true, false); }'
wants_a_look "LibTorch's own dlopen" "at::DynamicLibrary::DynamicLibrary" \
  'namespace at { struct DynamicLibrary { DynamicLibrary(const char*, const char*, bool); }; } void f() { at::DynamicLibrary("x", nullptr, false); }'
wants_a_look "LibTorch's own mmap" "at::MapAllocator::makeDataPtr" \
  'namespace at { struct MapAllocator { static void makeDataPtr(const char*, int); }; } void f() { at::MapAllocator::makeDataPtr("x", 1); }'
wants_a_look "a kernel without its dispatcher" "at::native::add" \
  'namespace at::native { void add(int); } void f() { at::native::add(1); }'
wants_a_look "operators by name" "c10::Dispatcher::singleton" \
  'namespace c10 { struct Dispatcher { static Dispatcher& singleton(); }; } void* f() { return &c10::Dispatcher::singleton(); }'
wants_a_look "a class of it" "c10::ThreadPool" \
  'namespace c10 { struct ThreadPool { virtual ~ThreadPool(); }; } struct Mine : c10::ThreadPool { virtual void g(); }; void Mine::g() {}
   extern const char vtable asm("_ZTVN3c1010ThreadPoolE"); const void* f() { return &vtable; }'
wants_a_look "a file" "open" '#include <fcntl.h>
  int f() { return open("x", O_RDONLY); }'
wants_a_look "what the labs share, and students do not use" "lab::launch::run_ranks" \
  'namespace lab::launch { void run_ranks(); } void f() { lab::launch::run_ranks(); }'
wants_a_look "the way to start a program" "lab::run_program" \
  'namespace lab { struct ProcessSpec; void run_program(const ProcessSpec&); } void f(const lab::ProcessSpec& s) { lab::run_program(s); }'

# A helper in another of the student's files.
object calls 'namespace mine { int helper(int); } int f() { return mine::helper(1); }'
object helps 'namespace mine { int helper(int x) { return x; } }'
expect "a helper that is nowhere" 3 "calls.o: unlisted: mine::helper" "$scratch/calls.o"
expect "a helper in another file" 0 "0 symbols that student code must not use, and 0 " "$scratch/calls.o" "$scratch/helps.o"
object both '#include <fcntl.h>
  extern "C" int fork(); int f() { return fork() + open("x", O_RDONLY); }'
expect "what is forbidden comes first" 1 "both.o: forbidden: fork; use instead: the ranks that the lab starts" "$scratch/both.o"
expect "... and what is unlisted is named, too" 1 "both.o: unlisted: open" "$scratch/both.o"
expect "... and does not make another file's name forbidden" 1 "strange.o: unlisted: lab::run_program" "$scratch/both.o" "$scratch/strange.o"
object ends 'extern "C" void exit(int); void f() { exit(0); }'
expect "the end of the process, where it is allowed" 0 "0 symbols" --may-end "$scratch/ends.o"
mkdir "$scratch/student"
printf 'extern "C" int fork();\n\nint f() {\n  return fork();\n}\n' >"$scratch/student/forks.cpp"
"$compiler" -g1 -c -o "$scratch/forks.o" "$scratch/student/forks.cpp" || exit 2
expect "the line where it is used" 1 "forks.o: forbidden: fork at $scratch/student/forks.cpp:4; use instead: " --lines "$scratch/forks.o"

# 0x6fff4c04: names of libraries for lld; 0x6fff4c02: its options.
for type in 6fff4c04 6fff4c02; do
  refuses "a section for the linker" "a section of type" "asm(\".section .x,\\\"MS\\\",@0x$type,1\\n.asciz \\\"x.a\\\"\\n.text\"); int f() { return 1; }"
done
refuses "a section for the linker, with the name of another type" "a section of type" \
  'asm(".section \".x PROGBITS 0000000000000000 000000 000000 00\",\"MS\",@0x6fff4c04,1\n.asciz \"x.a\"\n.text"); int f();'
object bad 'extern "C" int fork(); int f() { return fork(); }'
ar rcs "$scratch/both.a" "$scratch/good.o" "$scratch/bad.o"
expect "the offender among the members of an archive" 1 "both.a:bad.o: forbidden: fork" "$scratch/both.a"
expect "a file that is not there" 2 "cannot be read" "$scratch/none.o"
echo text >"$scratch/text.o"
expect "a file that is no object" 2 "these files cannot be read" "$scratch/good.o" "$scratch/text.o"
cp -r "$rules" "$scratch/rules"
echo '[loading' >>"$scratch/rules/allowed_symbols.txt"
audit=$scratch/rules/student_symbols.sh expect "rules that are no expressions" 2 "the audit itself failed" "$scratch/good.o"
expect "no file" 2 "usage: " --may-end

echo "$failures failures"
[[ $failures == 0 ]]
