#include "common/pipeline/check_actions.h"

#include <fmt/format.h>

#include "common/pipeline/check_list.h"
#include "common/report/errors.h"

namespace lab::pipeline {
namespace {

void check_shape(const Schedule& schedule) {
  if (schedule.num_ranks < 1 || schedule.num_micro_batches < 1 || schedule.num_chunks < 1) {
    throw ContractError(
        fmt::format("schedule {}: expected at least 1 rank, 1 micro-batch and 1 chunk, got {}, {} and {}",
                    schedule.kind, schedule.num_ranks, schedule.num_micro_batches, schedule.num_chunks));
  }
  if (schedule.ranks.size() == static_cast<std::size_t>(schedule.num_ranks)) return;
  throw ContractError(fmt::format("schedule {}: expected a list of actions for each of {} ranks, got {} lists",
                                  schedule.kind, schedule.num_ranks, schedule.ranks.size()));
}

/// Also keeps a wrong number of micro-batches from becoming tables of that size.
void check_length(const Schedule& schedule, std::size_t rank) {
  const auto least = static_cast<std::size_t>(schedule.num_chunks) *  //
                     static_cast<std::size_t>(schedule.num_micro_batches);
  const std::size_t length = schedule.ranks[rank].size();
  if (length >= least) return;
  throw ContractError(fmt::format(
      "schedule {}, rank {}: expected a forward pass of {} micro-batches through {} chunks, got a list of {} "
      "actions",
      schedule.kind, rank, schedule.num_micro_batches, schedule.num_chunks, length));
}

}  // namespace

void check_actions(const Schedule& schedule) {
  check_shape(schedule);
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) check_length(schedule, rank);
  for (int rank = 0; rank < schedule.num_ranks; ++rank) check_list(schedule, rank);
}

}  // namespace lab::pipeline
