#pragma once

#include <fmt/format.h>

#include <random>
#include <string>

namespace lab {

/// 128 random bits as hexadecimal digits, which cannot be guessed.
inline std::string random_token() {
  std::random_device source;
  std::string token;
  for (int word = 0; word < 4; ++word) token += fmt::format("{:08x}", source());
  return token;
}

/// The name of a socket for the processes of one run on this machine, in Linux's abstract namespace ("@..."): no file
/// is created, and nothing is left when they have ended.
inline std::string unnamed_socket() {
  return "@lab-run-" + random_token();
}

}  // namespace lab
