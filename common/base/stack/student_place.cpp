#include "common/base/stack/student_place.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <thread>

#include "common/api/errors.h"
#include "common/base/stack/student_frame.h"
#include "common/base/stack/throw_site.h"

#if defined(__SANITIZE_ADDRESS__)
#define LAB_HAS_HANDLERS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LAB_HAS_HANDLERS
#endif
#endif

namespace lab {
namespace {

constexpr std::size_t kStackBytes = 256 << 10;
constexpr int kAsks = SIGURG;  // ignored by default

thread_local const FollowedThread* own_thread = nullptr;
thread_local volatile sig_atomic_t is_waiting = 0;
/// Of a thread that LibTorch or student code has started: that of the latest one that is followed.
std::atomic<const FollowedThread*> any_thread = nullptr;

const FollowedThread* followed() {
  return own_thread != nullptr ? own_thread : any_thread.load();
}

/// Of the interrupted code; 0 where it is unknown.
std::uintptr_t stack_pointer(const void* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.sp);
#else
  return context == nullptr ? 1 : 0;
#endif
}

const char* name_cause(const siginfo_t& info, const void* context) {
  switch (info.si_signo) {
    case SIGFPE: return info.si_code == FPE_INTDIV ? "an integer is divided by zero" : "an arithmetic error";
    case SIGILL: return "no instruction: often the end of a function that returns nothing, but should";
    case SIGABRT:
      return "abort() was called, as after an exception that leaves a destructor or a noexcept function, or where "
             "memory beyond the end of an array was overwritten";
    case SIGBUS: return "memory that is not there";
    default: break;
  }
  constexpr std::uintptr_t kNearZero = 64 << 10, kNearStack = 64 << 10;
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  const std::uintptr_t stack = stack_pointer(context);
  if (info.si_code != SI_KERNEL && stack - address + kNearStack < 2 * kNearStack)
    return "the stack is full: a function calls itself without end, or has very large arrays";
  if (info.si_code != SI_KERNEL && address < kNearZero) return "a null pointer is followed";
  return "a pointer, reference or index leads to memory that is not there";
}

std::array<char, 32> get_name(const FollowedThread& thread) {
  std::array<char, 32> name{"a simulated rank"};
  if (thread.rank() >= 0) std::snprintf(name.data(), name.size(), "rank %d", thread.rank());
  return name;
}

void print(const char* line, int length) {
  [[maybe_unused]] const ssize_t written = ::write(2, line, static_cast<std::size_t>(length));
}

/// Returns   the exit code of an error that is the thread's own
ExitCode say_why(const char* cause) {
  CallStack stack;
  stack.capture();
  StudentFrame frame = student_frame(stack);
  // An exception that nothing catches may have unwound the function that threw it.
  if (frame.known && frame.line[0] == '\0') frame = student_frame(latest_throw_stack());
  std::array<char, sizeof(StudentPlace::crash)> text{};
  const bool in_student_code = frame.line[0] != '\0';
  const ExitCode of_whom = frame.known && !in_student_code ? ExitCode::kInternal : ExitCode::kStudentCode;
  std::snprintf(text.data(), text.size(), "%s%s: %s", in_student_code ? " at " : "",
                in_student_code ? frame.line.data() : "", cause);
  const FollowedThread* const thread = followed();
  StudentPlace* const place = thread->place();
  if (place != nullptr && place->outlives != 0) {
    place->crash = text;
    place->crashed.store(1, std::memory_order_release);
    return of_whom;
  }
  std::array<char, sizeof(text) + 32> line{};
  print(line.data(), std::snprintf(line.data(), line.size(), "error: %s%s\n", get_name(*thread).data(), text.data()));
  return of_whom;
}

/// The default follows when it returns: by the same instruction, by abort(), or by the signal that is sent again.
void on_crash(int signal, siginfo_t* info, void* context) {
  const bool is_own = info->si_code > 0 || info->si_pid == ::getpid();
  if (is_own && followed() != nullptr) say_why(name_cause(*info, context));
  if (info->si_code <= 0 && signal != SIGABRT) ::raise(signal);
}

void on_question(int, siginfo_t*, void*) {
  const int before = errno;
  CallStack stack;
  stack.capture();
  const StudentFrame frame = student_frame(stack);
  const FollowedThread* const thread = followed();
  if (StudentPlace* const place = thread == nullptr ? nullptr : thread->place()) {
    place->line = frame.line;
    place->num_answers.fetch_add(1, std::memory_order_release);
  } else if (thread != nullptr && frame.line[0] != '\0' && is_waiting == 0) {
    std::array<char, sizeof(frame.line) + 64> line{};
    print(line.data(),
          std::snprintf(line.data(), line.size(), "error: %s at %s\n", get_name(*thread).data(), frame.line.data()));
  }
  errno = before;
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | flags;
  sigfillset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

void install_handlers() {
#ifndef LAB_HAS_HANDLERS
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    handle(signal, on_crash, static_cast<int>(SA_RESETHAND));
#endif
  handle(kAsks, on_question, SA_RESTART);
}

const char* find_meaning(const char* condition) {
  if (std::strstr(condition, "size()") != nullptr) return "an index is out of range";
  if (std::strstr(condition, "empty()") != nullptr) return "an element is taken of something empty";
  if (std::strstr(condition, "pointer()") != nullptr || std::strstr(condition, "nullptr") != nullptr)
    return "an empty pointer is followed";
  if (std::strstr(condition, "_M_is_engaged") != nullptr) return "the value of an empty optional is taken";
  return "a function of the C++ library is used wrongly";
}

}  // namespace

std::string StudentPlace::where() {
  constexpr std::chrono::milliseconds kPatience{1000}, kStep{1};
  const std::uint32_t before = num_answers.load();
  if (process.load() == 0 || ::syscall(SYS_tgkill, process.load(), thread.load(), kAsks) != 0) return "";
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (num_answers.load(std::memory_order_acquire) == before) {
    if (std::chrono::steady_clock::now() > deadline) return "";
    std::this_thread::sleep_for(kStep);
  }
  return {line.data(), ::strnlen(line.data(), line.size())};
}

std::string StudentPlace::why() const {
  if (crashed.load(std::memory_order_acquire) == 0) return "";
  return {crash.data(), ::strnlen(crash.data(), crash.size())};
}

FollowedThread::FollowedThread(StudentPlace* place, int rank) : place_(place), rank_(rank), stack_(nullptr) {
  void* const memory =
      ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) {
    stack_ = memory;
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = kStackBytes;
    ::sigaltstack(&stack, nullptr);
  }
  own_thread = this;
  any_thread.store(this);
  install_handlers();
  if (place_ == nullptr) return;
  place_->thread.store(static_cast<std::int32_t>(::syscall(SYS_gettid)));
  place_->process.store(::getpid());
}

FollowedThread::~FollowedThread() {
  if (place_ != nullptr) place_->process.store(0);
  own_thread = nullptr;
  any_thread.store(nullptr);
  if (stack_ == nullptr) return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  ::munmap(stack_, kStackBytes);
}

WaitingThread::WaitingThread() {
  is_waiting = 1;
}

WaitingThread::~WaitingThread() {
  is_waiting = 0;
}

}  // namespace lab

/// In place of the C++ library's, which aborts. Nothing is thrown: what has a precondition is noexcept.
namespace std {
__attribute__((__noreturn__)) void __glibcxx_assert_fail(const char* file, int line, const char* function,
                                                         const char* condition) noexcept {
  if (lab::followed() != nullptr) {
    std::array<char, 160> cause{};
    std::snprintf(cause.data(), cause.size(), "%s: expected %s", lab::find_meaning(condition), condition);
    const lab::ExitCode code = lab::say_why(cause.data());
    std::fflush(nullptr);
    ::_exit(static_cast<int>(code));
  }
  std::fprintf(stderr, "%s:%d: %s: expected %s\n", file, line, function, condition);
  std::abort();
}
}  // namespace std
