#pragma once

#include <string>

namespace lab {

/// Where a message was posted in the caller's code. As a default argument it names the line of the call itself.
struct SourceLine {
  const char* file = "";
  int line = 0;

  static SourceLine current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }

  /// "collectives.cpp:41"
  std::string text() const {
    const std::string path = file;
    return path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(line);
  }
};

}  // namespace lab
