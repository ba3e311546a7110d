#pragma once

#include <cstdint>
#include <string>

namespace lab {

/// How busy others kept this machine while a benchmark ran, from /proc/stat: all cores' busy time less this process's
/// own and its children's. A figure measured beside other work is worth less, so a benchmark says so.
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
