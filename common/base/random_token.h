#pragma once

#include <fmt/format.h>

#include <random>
#include <string>

namespace lab {

/// 128 random bits in hexadecimal digits: who was not given them does not guess them.
inline std::string random_token() {
  std::random_device source;
  std::string token;
  for (int word = 0; word < 4; ++word) token += fmt::format("{:08x}", source());
  return token;
}

/// The name of a socket for the processes of one run on this machine, in Linux's abstract namespace ("@..."): no file
/// is made, and nothing is left of it when they are gone.
inline std::string unnamed_socket() {
  return "@lab-run-" + random_token();
}

}  // namespace lab
