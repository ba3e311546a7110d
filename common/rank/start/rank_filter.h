#pragma once

#include <linux/filter.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace lab {

/// In a rank's filter, this number stands for the rank's own process, which does not exist yet when the filter is made.
constexpr std::uint32_t kOwnProcess = 0x5EC0117D;

/// The seccomp filter of a rank. The server reads it, its children install it.
class RankFilter {
 public:
  /// From a descriptor. False: it is no filter.
  bool read(int descriptor);
  /// In this process, for good.
  bool install();

 private:
  std::array<sock_filter, 4096> instructions_{};
  std::size_t count_ = 0;
};

}  // namespace lab
