#pragma once

#include <map>
#include <string>

namespace lab {

/// glibc's variables with which a peer keeps the memory that it frees, as our ranks do (keep_freed_memory()). Without
/// them each large tensor is made of new pages, and the peer would be measured by what those cost.
inline std::map<std::string, std::string> peer_memory() {
  return {{"MALLOC_MMAP_MAX_", "0"}, {"MALLOC_TRIM_THRESHOLD_", "2147483647"}};
}

}  // namespace lab
