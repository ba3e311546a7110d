#pragma once

#include <cstdint>
#include <string>

namespace lab {

/// How busy other processes kept this machine during a benchmark, from /proc/stat: all cores' busy time minus this
/// process's own and its children's. Figures measured under other load are less reliable, so a benchmark reports it.
class MachineLoad {
 public:
  MachineLoad();
  /// Share of all cores' time since construction that others used, 0 to 1.
  double others_share() const;
  /// One line: "others used 1 % of this machine meanwhile", with a warning above 5 %.
  std::string report() const;

 private:
  struct Ticks {
    std::int64_t total = 0;
    std::int64_t busy = 0;
    std::int64_t own = 0;
  };
  static Ticks read();
  Ticks start_;
};

}  // namespace lab
