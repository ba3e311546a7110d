#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace lab {

/// How often a thread of this process has left its core so far: to wait, or for another one.
inline std::int64_t context_switches() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_nvcsw + used.ru_nivcsw;
}

}  // namespace lab
