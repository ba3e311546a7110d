#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/launch/run_ranks.h"
#include "common/testing/message_of.h"

// Runs a lab's cases on every rank of a world, with the lab's own calls or with wrong ones.
namespace lab::testing {

/// Runs all cases; a case that does not pass ends the run with a message that names it. Each rank's outcome has a
/// tensor for each case that was not skipped, under the case's name.
inline WorldOutcome run_cases(const std::vector<Case>& cases, const CallTable& calls, const WorldSpec& spec,
                              std::uint64_t seed) {
  return run_ranks(spec, RankBody([&](Communicator& comm, RankOutcome& own) {
                     for (const Case& test_case : cases) {
                       if (!is_asked(test_case, comm.rank())) continue;
                       const CaseResult result = run_case(test_case, calls, comm, seed);
                       if (!result.skipped.empty()) continue;
                       if (!result.passed()) {
                         throw std::runtime_error(fmt::format("{}: max diff {} {}", test_case.name,
                                                              result.comparison.max_diff, result.over_budget));
                       }
                       own.tensors[test_case.name] = result.actual.begin()->second;
                     }
                   }));
}

/// The same in a world of that kind and size; empty if every rank passed all cases that it must run, otherwise why not.
inline std::string problem_of_cases(const std::vector<Case>& cases, const CallTable& calls, WorldKind kind, int size,
                                    std::uint64_t seed) {
  WorldSpec spec;
  spec.kind = kind;
  spec.num_ranks = size;
  const WorldOutcome outcome = run_cases(cases, calls, spec, seed);
  const std::string where = fmt::format("{} ranks, seed {}: ", size, seed);
  if (outcome.failure) return where + outcome.failure->message;
  if (outcome.ranks.size() != static_cast<std::size_t>(size)) return where + "some ranks left nothing";
  std::size_t num_everywhere = 0;
  for (const Case& test_case : cases) num_everywhere += test_case.only_rank_zero ? 0 : 1;
  for (std::size_t rank = 0; rank < outcome.ranks.size(); ++rank) {
    const std::size_t expected = rank == 0 ? cases.size() : num_everywhere, got = outcome.ranks[rank].tensors.size();
    if (got != expected) return fmt::format("{}rank {}: expected {} cases, got {}", where, rank, expected, got);
  }
  return "";
}

/// What becomes of the named case with the given call instead of its task's: "passed", "mismatch", "3 rounds of
/// ..., expected at most 2", or the message of the error. Of the first rank that does not pass.
inline std::string verdict(const std::vector<Case>& cases, const std::string& name, const TaskCall& call,
                           int num_ranks) {
  for (const Case& test_case : cases) {
    if (test_case.name != name) continue;
    std::vector<std::string> verdicts(static_cast<std::size_t>(num_ranks), "passed");
    WorldSpec spec;
    spec.num_ranks = num_ranks;
    const auto outcome = run_ranks(spec, [&](Communicator& comm) {
      if (!is_asked(test_case, comm.rank())) return TensorMap{};
      const CaseResult result = run_case(test_case, {{test_case.task, call}}, comm, 42);
      if (!result.passed())
        verdicts[static_cast<std::size_t>(comm.rank())] = result.comparison.close ? result.over_budget : "mismatch";
      return TensorMap{};
    });
    if (outcome.failure) return outcome.failure->message;
    for (const std::string& of_rank : verdicts) {
      if (of_rank != "passed") return of_rank;
    }
    return "passed";
  }
  return "there is no case of this name";
}

}  // namespace lab::testing
