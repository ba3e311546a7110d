#include "common/bench/machine_load.h"

#include <fmt/format.h>
#include <sys/times.h>

#include <algorithm>
#include <fstream>

namespace lab {

MachineLoad::MachineLoad() : start_(read()) {}

double MachineLoad::others_share() const {
  const Ticks now = read();
  const auto total = static_cast<double>(now.total - start_.total);
  const auto others = static_cast<double>((now.busy - start_.busy) - (now.own - start_.own));
  return total <= 0 ? 0 : std::max(0.0, others / total);
}

std::string MachineLoad::report() const {
  const double share = others_share();
  std::string line = fmt::format("others used {:.0f} % of this machine meanwhile", 100 * share);
  if (share > 0.05) line += ": more than 5 %, so measure again when it is quiet";
  return line;
}

MachineLoad::Ticks MachineLoad::read() {
  // First line of /proc/stat: "cpu user nice system idle iowait irq softirq steal ...", in clock ticks; steal is
  // others' work, too.
  std::ifstream file("/proc/stat");
  std::string name;
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  file >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  Ticks ticks;
  ticks.busy = user + nice + system + irq + softirq + steal;
  ticks.total = ticks.busy + idle + iowait;
  tms own{};
  times(&own);
  ticks.own = own.tms_utime + own.tms_stime + own.tms_cutime + own.tms_cstime;
  return ticks;
}

}  // namespace lab
