#include "common/base/throw_site.h"

#ifdef LAB_SEES_THROWS
#include <dlfcn.h>

#include <cstdlib>

namespace {

/// A thread's latest throw.
struct Throw {
  const void* object = nullptr;
  lab::CallStack stack;
};

thread_local Throw latest_throw;

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
