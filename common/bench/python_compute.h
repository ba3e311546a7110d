#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/bench/peer_memory.h"

namespace lab {

/// What a lab's work takes in Python's PyTorch, in one process with one thread (common/python/compute.py).
struct PythonCompute {
  std::vector<double> seconds;  ///< of each turn
  std::int64_t peak_bytes = 0;  ///< by how much the process was larger in its first turn than before
  double start_seconds = 0;     ///< from the start of the process until the first turn
  double checksum = 0;          ///< mean of the result's absolute values
};

/// Runs compute.py with these arguments; nothing, with a line that says why, where Python or its PyTorch is not there.
/// `memory`: variables of glibc; with none of them, the work takes least memory, but more time.
std::optional<PythonCompute> python_compute(const std::vector<std::string>& arguments,
                                            const std::map<std::string, std::string>& memory = peer_memory());

/// By how many bytes this process has been larger since construction than it was then (VmHWM, VmRSS).
/// Call      one at a time per process
class PeakResident {
 public:
  PeakResident();
  std::int64_t bytes() const;

 private:
  std::int64_t before_;
};

/// Seconds that a program takes from its start to its end, if it is to do nothing (--version); its libraries are loaded.
double start_seconds_of(const std::string& program);

}  // namespace lab
