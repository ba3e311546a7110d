#include "common/log/sharing.h"

#include <fmt/format.h>

#include <algorithm>

namespace lab::log {
namespace {

/// 0 if either is unknown.
double quotient(std::int64_t a, std::int64_t b) {
  return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : 0;
}

}  // namespace

Sharing describe_sharing(const std::string& name, const std::vector<ResourceUse>& by_rank,
                         const ResourceUse& of_one_process) {
  ResourceUse most;
  std::int64_t busy = 0;
  for (const ResourceUse& rank : by_rank) {
    most.flops = std::max(most.flops, rank.flops);
    most.memory.peak_bytes = std::max(most.memory.peak_bytes, rank.memory.peak_bytes);
    most.model_time.total = std::max(most.model_time.total, rank.model_time.total);
    busy += rank.model_time.work + rank.model_time.overhead;
  }
  Sharing sharing;
  sharing.name = name;
  sharing.num_ranks = static_cast<int>(by_rank.size());
  sharing.flops = of_one_process.flops > 0 ? of_one_process.flops : most.flops;
  sharing.model_seconds = static_cast<double>(most.model_time.total) * 1e-12;
  if (most.model_time.total > 0) sharing.waiting = 1 - quotient(busy, most.model_time.total) / sharing.num_ranks;
  sharing.speed_up = quotient(of_one_process.model_time.total, most.model_time.total);
  sharing.work = quotient(of_one_process.flops, most.flops);
  sharing.peak = quotient(most.memory.peak_bytes, of_one_process.memory.peak_bytes);
  return sharing;
}

std::vector<Sharing> describe_sharing(const std::vector<RankReport>& ranks) {
  std::vector<Sharing> all;
  if (ranks.empty()) return all;
  for (const PartReport& part : ranks.front().parts) {
    const auto known = [&](const Sharing& other) { return other.name == part.name; };
    if (std::any_of(all.begin(), all.end(), known)) continue;
    std::vector<ResourceUse> by_rank;
    for (const RankReport& rank : ranks) {
      const auto same = std::find_if(rank.parts.begin(), rank.parts.end(),
                                     [&](const PartReport& other) { return other.name == part.name; });
      if (same != rank.parts.end()) by_rank.push_back(same->used);
    }
    if (by_rank.size() == ranks.size()) all.push_back(describe_sharing(part.name, by_rank, part.of_one_process));
  }
  return all;
}

std::vector<Sharing> main_parts(std::vector<Sharing> all) {
  std::int64_t most = 0;
  for (const Sharing& part : all) most = std::max(most, part.flops);
  const auto small = [&](const Sharing& part) { return part.flops < most / 100; };
  all.erase(std::remove_if(all.begin(), all.end(), small), all.end());
  return all;
}

std::string get_text(const Sharing& sharing) {
  const std::string waiting = fmt::format("waiting {:.0f} %", 100 * sharing.waiting);
  if (sharing.speed_up == 0) return fmt::format("model time {:.3g} ms | {}", 1e3 * sharing.model_seconds, waiting);
  std::string text = fmt::format("speed-up {:.2f} of {}", sharing.speed_up, sharing.num_ranks);
  if (sharing.work > 0) text += fmt::format(" | work {:.2f}", sharing.work);
  text += " | " + waiting;
  if (sharing.peak > 0) text += fmt::format(" | peak {:.2f} of serial", sharing.peak);
  return text;
}

}  // namespace lab::log
