#include "common/comm/rendezvous/roll_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

namespace lab::comm {
namespace {

/// Four pulses.
constexpr std::chrono::seconds kSilence{1};

}  // namespace

void RollCall::arrived(int rank, const std::string& process, Time now) {
  ranks_[rank] = {process, now, {rank, "has not joined yet"}};
}

void RollCall::heard(int rank, const Pulse& pulse, Time now) {
  Rank& own = ranks_.at(rank);
  own.heard_at = now;
  own.pulse = pulse;
}

std::string RollCall::late_rank(int first, Time now) const {
  std::vector<std::string> silent;
  std::chrono::duration<double> longest{0};
  for (const auto& [rank, state] : ranks_) {
    if (now - state.heard_at < kSilence) continue;
    silent.push_back(fmt::format("rank {} ({})", rank, state.process));
    longest = std::max<std::chrono::duration<double>>(longest, now - state.heard_at);
  }
  if (!silent.empty()) {
    return fmt::format("; not heard from for {:.1f} s: {}; {} stopped, or cut off from rank 0", longest.count(),
                       fmt::join(silent, ", "), silent.size() == 1 ? "it is" : "they are");
  }
  std::set<int> seen;
  int late = first;
  while (seen.insert(late).second) {
    const auto state = ranks_.find(late);
    if (state == ranks_.end()) return "";
    const Pulse& pulse = state->second.pulse;
    if (pulse.waits_for == late) return late == first ? "" : fmt::format("; late: rank {} {}", late, pulse.doing);
    late = pulse.waits_for;
  }
  return "";
}

}  // namespace lab::comm
