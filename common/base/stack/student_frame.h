#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// The line of student code that a call stack goes through. A signal handler may call all of this: it allocates nothing
// and takes no lock.
namespace lab {

/// Addresses inside a thread's calls, innermost first; the calls below the limit are dropped.
struct CallStack {
  std::size_t num_frames = 0;
  std::array<std::uintptr_t, 96> frames{};

  /// The stack of this thread as it is now; in a signal handler, from the interrupted instruction on.
  void capture();
};

struct StudentFrame {
  bool known = false;            ///< false: the program has no line tables, or libbacktrace (g++ has it) is missing
  std::array<char, 160> line{};  ///< the innermost line in a student file, "student/ring.cpp:41"; empty: none
};

StudentFrame student_frame(const CallStack& stack);

/// Reads the program's line tables, so that no file is opened later.
void read_line_tables();

/// "student/ring.cpp" for a path with a folder named student; empty: it has none. Folders above source_root do not
/// count: a home folder may have that name.
std::string_view student_file(std::string_view path, std::string_view source_root);

}  // namespace lab
