#include "common/base/stack/throw_site.h"

#ifdef LAB_SEES_THROWS
#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

/// A thread's latest throw.
struct Throw {
  const void* object = nullptr;
  lab::CallStack stack;
};

thread_local Throw latest_throw;

/// Kept for reading line tables where a program has taken all memory that it may have: what it has freed stays with its
/// allocator, and libbacktrace maps its own.
constexpr std::size_t kReserveBytes = std::size_t{16} << 20;
std::atomic<void*> reserve =
    ::mmap(nullptr, kReserveBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

void release_reserve() {
  void* const held = reserve.exchange(MAP_FAILED);
  if (held != MAP_FAILED) ::munmap(held, kReserveBytes);
}

}  // namespace

/// Intercepts every throw of the program and its libraries: a symbol of the program takes precedence over the C++
/// library's. The call stack is gone by the time an exception is caught, so it is recorded here (10 to 30 us).
extern "C" [[noreturn]] void keep_stack_and_throw(void* object, void* type,
                                                  void (*destroy)(void*)) __asm__("__cxa_throw");
extern "C" [[noreturn]] void keep_stack_and_throw(void* object, void* type, void (*destroy)(void*)) {
  using Thrower = void (*)(void*, void*, void (*)(void*));
  static const auto real_throw = reinterpret_cast<Thrower>(::dlsym(RTLD_NEXT, "__cxa_throw"));
  latest_throw.object = object;
  latest_throw.stack.capture();
  if (real_throw != nullptr) real_throw(object, type, destroy);
  std::abort();  // not reached: every C++ library has it
}

namespace lab {

ThrowSite throw_site(const std::exception* failure) {
  const Throw kept = latest_throw;
  if (kept.object == nullptr) return {};
  // Another exception may have been thrown, and caught, while this one was on its way.
  if (failure != nullptr && dynamic_cast<const void*>(failure) != kept.object) return {};
  if (dynamic_cast<const std::bad_alloc*>(failure) != nullptr) release_reserve();
  const StudentFrame frame = student_frame(kept.stack);
  return {frame.known, frame.line.data()};
}

const CallStack& latest_throw_stack() {
  return latest_throw.stack;
}

}  // namespace lab

#else

lab::ThrowSite lab::throw_site(const std::exception*) {
  return {};
}

const lab::CallStack& lab::latest_throw_stack() {
  static const CallStack none;
  return none;
}

#endif
