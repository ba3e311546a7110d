#pragma once

#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

namespace lab::testing {

/// What body writes to the descriptor, which is restored afterwards; body must not throw.
inline std::string captured(int fd, const std::function<void()>& body) {
  std::fflush(nullptr);
  std::FILE* file = std::tmpfile();
  const int before = ::dup(fd);
  ::dup2(::fileno(file), fd);
  body();
  std::fflush(nullptr);
  ::dup2(before, fd);
  ::close(before);
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

}  // namespace lab::testing
