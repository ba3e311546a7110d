#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace lab {

/// Where an exception was thrown, as far as student code is concerned.
struct ThrowSite {
  bool known = false;        ///< false: the call stack of the throw, or the program's line tables, are missing
  std::string student_line;  ///< the innermost line in a student file, "student/ring.cpp:41"; empty: none on the stack
};

/// The site of an exception that this thread threw and is handling; if the pointer is null (a thrown integer, say), of
/// the thread's latest throw. The first call in a process reads line tables, which takes 0.2 s.
/// Unknown where libbacktrace (it comes with g++) is missing or the C++ library is static; never an error.
ThrowSite throw_site(const std::exception* failure);

/// "student/ring.cpp" for a path with a folder named student; empty: it has none. Folders above source_root do not
/// count: a home folder may have that name.
std::string_view student_file(std::string_view path, std::string_view source_root);

}  // namespace lab
