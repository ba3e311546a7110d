#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/costs.h"
#include "common/log/run_report.h"

namespace lab::log {

/// How ranks shared a piece of work, by their counts and in model time (comm/model_time.md).
struct Sharing {
  std::string name;
  int num_ranks = 0;
  double model_seconds = 0;  ///< of the slowest rank
  std::int64_t flops = 0;    ///< of one process; where that is not known, of the rank that has most
  double waiting = 0;        ///< share of all ranks' time in which they wait for messages, or for the last one to end
  // Where it is known what one process uses that does all of it; else 0.
  double speed_up = 0;  ///< the time of one process, by that of the slowest rank
  double work = 0;      ///< the floating-point operations of one process, by those of the rank that has most
  double peak = 0;      ///< the most bytes that a rank holds, by those of one process
};

Sharing describe_sharing(const std::string& name, const std::vector<ResourceUse>& by_rank,
                         const ResourceUse& of_one_process);

/// Of all parts that each rank has reported, in the order of the first rank's; each name once.
std::vector<Sharing> describe_sharing(const std::vector<RankReport>& ranks);

/// Those with at least a hundredth of the work of the largest: what a few lines should say.
std::vector<Sharing> main_parts(std::vector<Sharing> all);

/// "speed-up 3.62 of 4 | work 3.71 | waiting 2 % | peak 0.27 of serial", without what is not known; without a speed-up,
/// "model time 1.23 ms | waiting 60 %".
std::string get_text(const Sharing& sharing);

}  // namespace lab::log
