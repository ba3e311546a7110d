#pragma once

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace lab::testing {

/// While it lives, the sanitizer ignores leaks of what this thread allocates: for calls into a library that leaks.
struct LeaksAllowed {
#ifdef __SANITIZE_ADDRESS__
  LeaksAllowed() {
    __lsan_disable();
  }
  ~LeaksAllowed() {
    __lsan_enable();
  }
#else
  LeaksAllowed() {}  // NOLINT: not trivial, so that a variable of this type counts as used
#endif
  LeaksAllowed(const LeaksAllowed&) = delete;
  LeaksAllowed& operator=(const LeaksAllowed&) = delete;
};

}  // namespace lab::testing
