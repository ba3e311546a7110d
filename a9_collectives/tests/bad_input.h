#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "a9_collectives/all_to_all.h"
#include "a9_collectives/broadcast.h"
#include "common/testing/worlds.h"

// Calls a collective with arguments that may differ from rank to rank, and says how each rank ended.
namespace lab::a9 {

inline const std::vector<int> kBadInputSizes = {2, 3, 4, 5};

using Call = std::function<at::Tensor(at::Tensor x, PointToPoint& p2p)>;

inline Call broadcast_from(int src_rank) {
  return [src_rank](at::Tensor x, PointToPoint& p2p) { return my_broadcast(x, src_rank, p2p); };
}
inline Call all_to_all_along(std::int64_t scatter_dim, std::int64_t gather_dim) {
  return [=](at::Tensor x, PointToPoint& p2p) { return my_all_to_all(x, scatter_dim, gather_dim, p2p); };
}

struct RankEnding {
  ExitCode exit_code;  ///< of one rank
  std::string message;
  std::uint64_t messages_sent;
};

/// How each rank ends that calls `call(rank)` with `input(rank)`.
inline std::vector<RankEnding> endings(int size, const std::function<at::Tensor(int rank)>& input,
                                       const std::function<Call(int rank)>& call) {
  const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
    return TensorMap{{"out", call(comm.rank())(input(comm.rank()), comm.point_to_point())}};
  });
  std::vector<RankEnding> result;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    const launch::RankFailure failure = rank.failure.value_or(launch::RankFailure());
    std::uint64_t messages = 0;
    for (const LedgerEntry& entry : rank.report.ledger) messages += entry.messages;
    result.push_back({static_cast<ExitCode>(failure.exit_code), failure.message, messages});
  }
  return result;
}

/// Whether no rank ended well.
inline bool error_everywhere(const std::vector<RankEnding>& all) {
  return std::all_of(all.begin(), all.end(),
                     [](const RankEnding& one) { return one.exit_code != ExitCode::kAllMatch; });
}

}  // namespace lab::a9
