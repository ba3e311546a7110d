#pragma once

#include <cstring>
#include <string>
#include <string_view>

namespace lab::comm {

/// Where a message was posted in the caller's code. As a default argument it gives the line of the call itself.
struct SourceLine {
  const char* file = "";
  int line = 0;

  static SourceLine current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }

  /// "collectives.cpp"
  std::string_view file_name() const {
    const char* const slash = std::strrchr(file, '/');
    return slash == nullptr ? file : slash + 1;
  }

  /// "collectives.cpp:41"
  std::string text() const { return std::string(file_name()) + ":" + std::to_string(line); }
};

}  // namespace lab::comm

namespace lab {
using comm::SourceLine;
}  // namespace lab
