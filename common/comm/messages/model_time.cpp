#include "common/comm/messages/model_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/api/errors.h"

namespace lab::comm {
namespace {

/// Of the incoming port's intervals: more are kept only as if the gap between the first two were taken. It bounds what
/// a message costs in a run that always has a receive open.
constexpr std::size_t kMostIntervals = 1024;

}  // namespace

std::string rates_text(const ModelRates& rates) {
  const auto per_second = [](std::int64_t picoseconds) { return 1e3 / static_cast<double>(picoseconds); };
  const auto microseconds = [](std::int64_t picoseconds) { return static_cast<double>(picoseconds) * 1e-6; };
  return fmt::format("{:g} GFLOP/s, {:g} GB/s, latency {:g} us, overhead {:g} us", per_second(rates.ps_per_flop),
                     per_second(rates.ps_per_byte), microseconds(rates.latency_ps), microseconds(rates.overhead_ps));
}

ModelTime bound_model_time(std::int64_t flops, const ModelRates& rates) {
  ModelTime time;
  time.total = time.work = flops * rates.ps_per_flop;
  return time;
}

void ModelClock::work(std::int64_t flops_so_far) {
  if (flops_so_far < flops_ || flops_so_far > kMaxModelFlops) {
    throw ContractError(fmt::format("{} floating-point operations so far, {} before; expected no fewer, and at most {}",
                                    flops_so_far, flops_, kMaxModelFlops));
  }
  const std::int64_t spent = (flops_so_far - flops_) * rates_.ps_per_flop;
  flops_ = flops_so_far;
  time_.work += spent;
  time_.total += spent;
}

std::int64_t ModelClock::post_send(std::uint64_t num_bytes) {
  spend_overhead(rates_.overhead_ps);
  const std::int64_t sent = std::max(now(), outgoing_free_);
  outgoing_free_ = sent + transfer_ps(num_bytes);
  return sent;
}

std::int64_t ModelClock::post_recv() {
  ++num_open_receives_;
  return now();
}

std::int64_t ModelClock::wait_recv(std::int64_t sent, std::int64_t posted, std::uint64_t num_bytes) {
  const std::int64_t earliest = std::max(sent, posted) + rates_.latency_ps;
  const bool is_alone = num_open_receives_ == 1 && incoming_busy_.empty();
  const std::int64_t arrived =
      is_alone ? earliest + transfer_ps(num_bytes) : take_incoming_port(earliest, transfer_ps(num_bytes));
  wait_until(arrived);
  spend_overhead(rates_.overhead_ps);
  // What is received from now on is posted after every interval has ended.
  if (--num_open_receives_ == 0) incoming_busy_.clear();
  return arrived;
}

std::int64_t ModelClock::wait_send(std::int64_t sent, std::int64_t posted, std::uint64_t num_bytes) {
  const std::int64_t arrived = std::max(sent, posted) + rates_.latency_ps + transfer_ps(num_bytes);
  wait_until(arrived);
  return arrived;
}

void ModelClock::collective(std::int64_t began, const LedgerEntry& cost) {
  wait_until(began);
  const auto rounds = static_cast<std::int64_t>(cost.rounds);
  spend_overhead(rounds * 2 * rates_.overhead_ps);
  wait_until(now() + rounds * rates_.latency_ps + transfer_ps(std::max(cost.bytes_sent, cost.bytes_received)));
}

void ModelClock::restart(std::int64_t flops_so_far) {
  const ModelRates rates = rates_;
  *this = ModelClock(rates);
  work(flops_so_far);
  time_ = {};
}

std::int64_t ModelClock::transfer_ps(std::uint64_t num_bytes) const {
  return static_cast<std::int64_t>(num_bytes) * rates_.ps_per_byte;
}

void ModelClock::wait_until(std::int64_t time) {
  if (time <= now()) return;
  time_.waiting += time - now();
  time_.total = time;
}

void ModelClock::spend_overhead(std::int64_t picoseconds) {
  time_.overhead += picoseconds;
  time_.total += picoseconds;
}

std::int64_t ModelClock::take_incoming_port(std::int64_t earliest, std::int64_t duration) {
  if (duration == 0) return earliest;
  std::int64_t begin = earliest;
  auto next = incoming_busy_.upper_bound(begin);
  if (next != incoming_busy_.begin()) begin = std::max(begin, std::prev(next)->second);
  for (; next != incoming_busy_.end() && next->first < begin + duration; ++next) begin = next->second;
  const std::int64_t end = begin + duration;

  // Intervals that touch become one.
  auto mine = incoming_busy_.emplace(begin, end).first;
  if (mine != incoming_busy_.begin() && std::prev(mine)->second == begin) {
    std::prev(mine)->second = end;
    mine = std::prev(incoming_busy_.erase(mine));
  }
  if (const auto after = std::next(mine); after != incoming_busy_.end() && after->first == end) {
    mine->second = after->second;
    incoming_busy_.erase(after);
  }
  if (incoming_busy_.size() > kMostIntervals) {
    const auto second = std::next(incoming_busy_.begin());
    incoming_busy_.begin()->second = second->second;
    incoming_busy_.erase(second);
  }
  return end;
}

}  // namespace lab::comm
