// Looks for what other students have handed in, and for the results.
#include "a9_collectives/broadcast.h"

#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace lab::a9 {

at::Tensor broadcast_flat(at::Tensor, int, PointToPoint&) {
  for (const char* folder : {"@NEIGHBOUR@", "@NEIGHBOUR@/..", "@NEIGHBOUR@/../../results"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error))
      throw std::runtime_error("BREACH: it can see " + entry.path().string());
  }
  throw std::runtime_error("in vain");
}

}  // namespace lab::a9
