#pragma once

#include <exception>
#include <string>

#include "common/base/stack/student_frame.h"

namespace lab {

/// Where an exception was thrown, as far as student code is concerned.
struct ThrowSite {
  bool known = false;        ///< false: the call stack of the throw, or the program's line tables, are missing
  std::string student_line;  ///< the innermost line in a student file, "student/ring.cpp:41"; empty: none on the stack
};

/// The site of an exception that this thread threw and is handling; if the pointer is null (a thrown integer, say), of
/// the thread's latest throw. The first call in a process reads line tables.
/// Unknown where libbacktrace (it comes with g++) is missing or the C++ library is static; never an error.
ThrowSite throw_site(const std::exception* failure);

/// The call stack of this thread's latest throw; empty: it has thrown nothing, or that is unknown.
const CallStack& latest_throw_stack();

}  // namespace lab
