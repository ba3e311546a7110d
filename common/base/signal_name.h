#pragma once

#include <string.h>

#include <string>

namespace lab {

/// "SIGKILL", or "signal 35" for one without a name.
inline std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace lab
