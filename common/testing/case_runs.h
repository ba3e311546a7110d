#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "common/lab/case.h"
#include "common/launch/run_ranks.h"
#include "common/testing/sentence_of.h"

// Runs a lab's cases on every rank of a world, with the lab's own calls or with wrong ones.
namespace lab::testing {

/// Runs all cases; a case that does not pass ends the run with a sentence that names it. Each rank's outcome has a
/// tensor for each case that was not skipped, under the case's name.
inline WorldOutcome run_cases(const std::vector<Case>& cases, const CallTable& calls, const WorldSpec& spec,
                              std::uint64_t seed) {
  return run_ranks(spec, RankBody([&](Communicator& comm, RankOutcome& own) {
                     for (const Case& the_case : cases) {
                       if (the_case.only_rank_zero && comm.rank() != 0) continue;
                       const CaseResult result = run_case(the_case, calls, comm, seed);
                       if (!result.skipped.empty()) continue;
                       if (!result.passed()) {
                         throw std::runtime_error(fmt::format("{}: max diff {} {}", the_case.name,
                                                              result.comparison.max_diff, result.over_budget));
                       }
                       own.tensors[the_case.name] = result.actual.begin()->second;
                     }
                   }));
}

/// What becomes of the named case with the given call in the place of its task's: "passed", "mismatch", "3 rounds of
/// ..., expected at most 2", or the sentence of the error. Of the first rank that does not pass.
inline std::string verdict(const std::vector<Case>& cases, const std::string& name, const TaskCall& call,
                           int num_ranks) {
  for (const Case& the_case : cases) {
    if (the_case.name != name) continue;
    std::vector<std::string> verdicts(static_cast<std::size_t>(num_ranks), "passed");
    WorldSpec spec;
    spec.num_ranks = num_ranks;
    const auto outcome = run_ranks(spec, [&](Communicator& comm) {
      if (the_case.only_rank_zero && comm.rank() != 0) return TensorMap{};
      const CaseResult result = run_case(the_case, {{the_case.task, call}}, comm, 42);
      if (!result.passed())
        verdicts[static_cast<std::size_t>(comm.rank())] = result.comparison.close ? result.over_budget : "mismatch";
      return TensorMap{};
    });
    if (outcome.failure) return outcome.failure->sentence;
    for (const std::string& of_rank : verdicts) {
      if (of_rank != "passed") return of_rank;
    }
    return "passed";
  }
  return "there is no case of this name";
}

}  // namespace lab::testing
