#include "common/pipeline/generators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/pipeline/messages.h"
#include "common/pipeline/orders.h"
#include "common/report/errors.h"
#include "common/report/nearest.h"

namespace lab::pipeline {
namespace {

using Order = std::vector<Action> (*)(const ScheduleOptions&, int rank);

Order order_of(const std::string& kind) {
  if (kind == "afab") return all_forward_all_backward;
  if (kind == "1f1b") return one_forward_one_backward;
  if (kind == "interleaved") return interleaved;
  if (kind == "zb-h1") return zero_bubble;
  const auto meant = nearest(kind, schedule_kinds());
  throw UsageError(fmt::format("schedule '{}': expected one of {}{}", kind, fmt::join(schedule_kinds(), ", "),
                               meant ? "; did you mean " + *meant + "?" : ""));
}

void check_at_least_one(const ScheduleOptions& options, const char* of_what, int count) {
  if (count >= 1) return;
  throw UsageError(fmt::format("schedule {}: expected at least 1 {}, got {}", options.kind, of_what, count));
}

/// A mistyped number should not take all memory.
void check_size(const ScheduleOptions& options) {
  constexpr double kMost = 1e7;
  const double passes = 1.0 * options.num_ranks * options.num_micro_batches * options.num_chunks;
  if (passes <= kMost) return;
  throw UsageError(
      fmt::format("schedule {}: expected at most {:.0f} forward passes in all, got {} ranks x {} micro-batches x {} "
                  "chunks",
                  options.kind, kMost, options.num_ranks, options.num_micro_batches, options.num_chunks));
}

void check(const ScheduleOptions& options) {
  check_at_least_one(options, "rank", options.num_ranks);
  check_at_least_one(options, "micro-batch", options.num_micro_batches);
  check_at_least_one(options, "chunk", options.num_chunks);
  check_size(options);
  if (options.kind != "interleaved") {
    if (options.num_chunks == 1) return;
    throw UsageError(fmt::format("schedule {}: expected 1 chunk on each rank, got {}; hint: only interleaved has more",
                                 options.kind, options.num_chunks));
  }
  if (options.num_micro_batches % options.num_ranks == 0) return;
  throw UsageError(
      fmt::format("schedule interleaved: expected a multiple of {} micro-batches, as many as ranks, got {}; hint: the "
                  "others take any number",
                  options.num_ranks, options.num_micro_batches));
}

}  // namespace

const std::vector<std::string>& schedule_kinds() {
  static const std::vector<std::string> kinds = {"afab", "1f1b", "interleaved", "zb-h1"};
  return kinds;
}

int usual_chunks(const std::string& kind) {
  return kind == "interleaved" ? 2 : 1;
}

Schedule make_schedule(const ScheduleOptions& options) {
  const Order order = order_of(options.kind);
  check(options);
  Schedule schedule{options.kind, options.num_ranks, options.num_micro_batches, options.num_chunks, {}};
  for (int rank = 0; rank < options.num_ranks; ++rank) {
    schedule.ranks.push_back(with_messages(schedule, rank, order(options, rank), options.waiting));
  }
  return schedule;
}

}  // namespace lab::pipeline
