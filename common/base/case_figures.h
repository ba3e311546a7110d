#pragma once

#include <cstdint>
#include <limits>

namespace lab {

/// What a case cost, or may cost, the rank that has most of each.
struct CaseFigures {
  static constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

  std::int64_t model_time_ps = kAny;
  std::int64_t bytes_sent = kAny;
  std::int64_t peak_bytes = kAny;  ///< of tensors that the call made
  std::int64_t flops = kAny;       ///< floating-point operations

  /// Nothing.
  static CaseFigures zero() { return {0, 0, 0, 0}; }
};

}  // namespace lab
