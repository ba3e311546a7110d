#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/verdict.h"
#include "common/testing/worlds.h"

// Runs a lab's cases on every rank of a world, with the lab's own calls or with wrong ones.
namespace lab::testing {

/// The first ones; all where LAB_ALL_WORLD_SIZES is set, as in the tests that lab_all_world_sizes() adds.
inline std::vector<int> world_sizes(std::vector<int> some, std::vector<int> all) {
  return std::getenv("LAB_ALL_WORLD_SIZES") == nullptr ? some : all;
}

/// Why the ranks of one run of the case took too long together; empty: they did not. The times are those of the part of
/// each rank's report that has the case's name.
inline std::string late_ranks(const Case& test_case, const launch::WorldOutcome& outcome, std::uint64_t seed) {
  if (!test_case.time) return "";
  std::vector<ModelTime> times;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    for (const log::PartReport& part : rank.report.parts) {
      if (part.name == test_case.name) times.push_back(part.used.model_time);
    }
  }
  const auto excess = beyond_time(test_case.time(static_cast<int>(times.size()), seed), times);
  return excess ? excess->reason : "";
}

using DeviceOfRank = at::Device (*)(int rank);

/// Runs all cases on every rank of a world; empty if each rank passed all that it must run, but those that it skips for
/// the world's size, otherwise why not. `choose_device`: called by the ranks; null: all on the CPU.
inline std::string problem_of_cases(const std::vector<Case>& cases, const CallTable& calls, launch::WorldKind kind,
                                    int size, std::uint64_t seed, std::size_t num_skipped = 0,
                                    DeviceOfRank choose_device = nullptr) {
  const auto run_all = [&](Communicator& comm, launch::RankOutcome& own) {
    std::int64_t num_passed = 0;
    for (const Case& test_case : cases) {
      if (!is_asked(test_case, comm.rank())) continue;
      if (!find_skip_reason(test_case, comm.size()).empty()) continue;
      const at::Device device = choose_device == nullptr ? at::kCPU : choose_device(comm.rank());
      const CaseResult result = run_case(test_case, calls, comm, seed, device);
      if (!result.passed())
        throw std::runtime_error(
            fmt::format("{}: max diff {} {}", test_case.name, result.comparison.max_diff, result.over_budget));
      ++num_passed;
      own.report.parts.push_back({test_case.name, result.record.used, {}});
    }
    own.tensors["passed"] = at::full({1}, num_passed, at::kLong);
  };
  const launch::WorldOutcome outcome = launch::run_ranks(choose_world(kind, size), launch::RankBody(run_all));
  const std::string where = fmt::format("{} ranks, seed {}: ", size, seed);
  if (outcome.failure) return where + outcome.failure->message;
  if (outcome.ranks.size() != static_cast<std::size_t>(size)) return where + "some ranks left nothing";
  for (int rank = 0; rank < size; ++rank) {
    const auto asked = std::count_if(cases.begin(), cases.end(), [&](const Case& c) { return is_asked(c, rank); });
    const auto expected = asked - static_cast<std::int64_t>(num_skipped);
    const auto got = tensor_of_rank(outcome, rank, "passed").item<std::int64_t>();
    if (got != expected) return fmt::format("{}rank {}: expected {} cases, got {}", where, rank, expected, got);
  }
  // Elsewhere backward() may be on a thread whose work is not counted.
  if (choose_device != nullptr) return "";
  for (const Case& test_case : cases) {
    const std::string late = late_ranks(test_case, outcome, seed);
    if (!late.empty()) return where + test_case.name + ": " + late;
  }
  return "";
}

/// Runs the named case with the given call instead of its task's. Returns "passed", "mismatch", "3 rounds of ...,
/// expected at most 2", or the message of the error. A mismatch on any rank comes before costs.
inline std::string verdict(const std::vector<Case>& cases, const std::string& name, const TaskCall& call,
                           int num_ranks) {
  for (const Case& test_case : cases) {
    if (test_case.name != name) continue;
    std::vector<std::string> verdicts(static_cast<std::size_t>(num_ranks), "passed");
    const auto run = [&](Communicator& comm, launch::RankOutcome& own) {
      if (!is_asked(test_case, comm.rank())) return;
      const CaseResult result = run_case(test_case, {{test_case.task, call}}, comm, 42);
      if (!result.passed())
        verdicts[static_cast<std::size_t>(comm.rank())] = result.comparison.close ? result.over_budget : "mismatch";
      own.report.parts.push_back({test_case.name, result.record.used, {}});
    };
    const auto outcome = launch::run_ranks(threads(num_ranks), launch::RankBody(run));
    if (outcome.failure) return outcome.failure->message;
    std::string worst = "passed";
    for (const std::string& of_rank : verdicts) {
      if (of_rank == "mismatch") return of_rank;
      if (worst == "passed") worst = of_rank;
    }
    const std::string late = worst == "passed" ? late_ranks(test_case, outcome, 42) : "";
    return late.empty() ? worst : late;
  }
  return "unknown case";
}

}  // namespace lab::testing
