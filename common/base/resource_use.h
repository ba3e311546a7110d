#pragma once

#include <cstdint>

#include "common/base/model_time.h"

namespace lab {

/// What a call used, as counted on its rank.
struct ResourceUse {
  std::int64_t flops = 0;           ///< floating-point operations, by the work meter
  std::int64_t peak_bytes = 0;      ///< of tensors made meanwhile, by the memory meter
  ModelTime model_time;             ///< of the call, by the rank's clock; where a relay keeps the clocks, by that
  std::int64_t retained_bytes = 0;  ///< of these tensors, that live on although nothing refers to the results any more
};

/// What a process was seen to use meanwhile, by the kernel's count: whatever it says itself.
struct SeenUse {
  double cpu_seconds = 0;
  std::int64_t peak_bytes = 0;  ///< resident, beyond what it held before its first case and what earlier ones reached
};

}  // namespace lab
