#include "grading/judge/claims.h"

#include <fmt/format.h>

#include <algorithm>

namespace lab::grading {
namespace {

// What a process may need for a case besides its work: receiving inputs, freed memory that it keeps, a first call.
constexpr double kFreeSeconds = 1;
constexpr std::int64_t kFreeBytes = 64 << 20;
// No machine that runs this at all is slower, unless its work is not in LibTorch's operators.
constexpr double kSlowestFlopsPerSecond = 1e8;

/// How many times as much as the reference, where neither is less than what is free.
double ratio(double own, double reference, double free) {
  return std::max(own, free) / std::max(reference, free);
}

double claimed_ratio(std::int64_t own, std::int64_t reference) {
  return ratio(static_cast<double>(own), static_cast<double>(reference), 1);
}

std::string mebibytes(std::int64_t bytes) {
  return fmt::format("{} MiB", bytes >> 20);
}

}  // namespace

bool is_suspicious(const RankVerdict& own) {
  const double seconds = own.seen.cpu_seconds - static_cast<double>(own.used.flops) / kSlowestFlopsPerSecond;
  const auto explained = static_cast<std::int64_t>(kMostUnclaimed * static_cast<double>(own.used.memory.peak_bytes));
  return seconds > kFreeSeconds || own.seen.peak_bytes - kFreeBytes > explained;
}

std::string find_contradiction(const RankVerdict& own, const RankVerdict& reference) {
  const double more_cpu = ratio(own.seen.cpu_seconds, reference.seen.cpu_seconds, kFreeSeconds / kMostUnclaimed);
  if (more_cpu > kMostUnclaimed * std::max(1.0, claimed_ratio(own.used.flops, reference.used.flops))) {
    return fmt::format(
        "used {:.1f} s of CPU time where the reference used {:.1f} s, but counted {} floating-point operations where "
        "it "
        "counted {}",
        own.seen.cpu_seconds, reference.seen.cpu_seconds, own.used.flops, reference.used.flops);
  }
  const double more_memory = ratio(static_cast<double>(own.seen.peak_bytes),
                                   static_cast<double>(reference.seen.peak_bytes), kFreeBytes / kMostUnclaimed);
  if (more_memory >
      kMostUnclaimed * std::max(1.0, claimed_ratio(own.used.memory.peak_bytes, reference.used.memory.peak_bytes))) {
    return fmt::format("held {} where the reference held {}, but counted {} in tensors where it counted {}",
                       mebibytes(own.seen.peak_bytes), mebibytes(reference.seen.peak_bytes),
                       mebibytes(own.used.memory.peak_bytes), mebibytes(reference.used.memory.peak_bytes));
  }
  return "";
}

std::string ClaimCheck::contradiction(const Case& test_case, int num_ranks, const CaseVerdict& run) const {
  if (!run_reference_ || std::none_of(run.ranks.begin(), run.ranks.end(), is_suspicious)) return "";
  const CaseVerdict reference = run_reference_(test_case, num_ranks);
  if (!reference.passed()) return "";
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const std::string why = find_contradiction(run.ranks[rank], reference.ranks.at(rank));
    if (!why.empty()) return fmt::format("needs a look: on {} ranks, rank {} {}", num_ranks, rank, why);
  }
  return "";
}

}  // namespace lab::grading
