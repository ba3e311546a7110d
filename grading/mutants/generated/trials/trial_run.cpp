#include "grading/mutants/generated/trials/trial_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstring>

#include "common/base/text.h"
#include "common/checks/check_run.h"

namespace lab::grading::generated {
namespace {

// By the clock: a trial that comes to nothing is ended by who started it.
constexpr double kTimeoutSeconds = 600;

/// FNV-1a, continued.
std::uint64_t hashed(std::uint64_t hash, const void* bytes, std::size_t size) {
  const auto* each = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ each[i]) * 1099511628211u;
  return hash;
}

std::string bits_of(const TensorMap& results) {
  std::uint64_t hash = 14695981039346656037u;
  for (const auto& [name, tensor] : results) {
    hash = hashed(hash, name.data(), name.size());
    if (!tensor.defined()) continue;
    const at::Tensor flat = tensor.detach().contiguous();
    const std::string form = fmt::format("{} {}", static_cast<int>(flat.scalar_type()), fmt::join(flat.sizes(), " "));
    hash = hashed(hash, form.data(), form.size());
    hash = hashed(hash, flat.data_ptr(), flat.nbytes());
  }
  return fmt::format("{:016x}", hash);
}

std::string text_of(const std::vector<LedgerEntry>& spent) {
  std::string text;
  for (const LedgerEntry& entry : spent)
    text += fmt::format("{} {} {} {} {} {} to {} from {};", entry.operation, entry.calls, entry.messages,
                        entry.bytes_sent, entry.bytes_received, entry.rounds,
                        fmt::join(entry.destinations.ranks(), ","), fmt::join(entry.sources.ranks(), ","));
  return text;
}

std::map<std::string, std::string> fingerprint_of(const RecordedWorld& world, const Case& test_case) {
  std::map<std::string, std::string> print;
  for (int rank = 0; rank < static_cast<int>(world.by_rank.size()); ++rank) {
    const CaseRecord* record = world.find(rank, test_case);
    const std::string separator = rank == 0 ? "" : " ";
    if (record == nullptr) {
      print["results"] += separator + "none";
      continue;
    }
    print["results"] += separator + bits_of(record->results) + (record->message.empty() ? "" : " " + record->message);
    print["messages"] += separator + text_of(record->spent);
    print["work"] += fmt::format("{}{}", separator, record->used.flops);
    print["memory"] += fmt::format("{}{}", separator, record->used.peak_bytes);
    print["time"] += fmt::format("{}{}", separator, record->used.model_time.total);
  }
  if (world.failure) print["results"] += " and " + world.failure->message;
  return print;
}

}  // namespace

RunReport performed(const Case& test_case, const TrialRun& place, const CallTable& calls) {
  const auto start = std::chrono::steady_clock::now();
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kThreads;
  spec.num_ranks = place.num_ranks;
  spec.timeout_seconds = kTimeoutSeconds;
  RecordedWorld world;
  const CheckedCase checked = check_apart({test_case}, place.seed, [&](const std::vector<Case>& cases) {
                                world = record_cases(cases, calls, spec, place.seed);
                                return world;
                              }).front();
  RunReport report;
  report.skipped = checked.skipped();
  report.right = checked.right();
  if (!report.right && !report.skipped) {
    report.how = checked.failure ? "failed" : checked.too_expensive() ? "costly" : "wrong";
    report.why = one_line(checked.failure ? checked.failure->message : checked.reason()).substr(0, 300);
    if (checked.symptom) report.symptom = checked.symptom->id;
  }
  report.fingerprint = fingerprint_of(world, test_case);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace lab::grading::generated
