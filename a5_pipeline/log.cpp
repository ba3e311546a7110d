#include "a5_pipeline/log.h"

#include <fmt/format.h>

#include "a5_pipeline/arguments.h"
#include "a5_pipeline/cases.h"
#include "common/lab/lab_main.h"
#include "common/tensor/partition.h"

namespace lab::a5 {
namespace {

ExpectedMatch matches(const std::string& prefix, double max_bound) {
  ExpectedMatch match;
  match.prefix = prefix;
  match.max_bound = max_bound;
  return match;
}

void add(LogExpectation& log, const Case& the_case) {
  // Data that are compared by their norm are of the size of 1 or smaller; what must be exact says 0.
  const double bound = the_case.tolerance.atol == 0 ? 0 : 1e-5;
  if (the_case.only_rank_zero) {
    log.add(0, matches(the_case.prefix, bound));
  } else {
    log.add_on_every_rank(matches(the_case.prefix, bound));
  }
}

void add(LogExpectation& log, const std::vector<Section>& sections) {
  for (const Section& section : sections) {
    log.add(0, ExpectedSentence{"[Rank 0] " + section.sentence});
    for (const Case& the_case : section.cases) add(log, the_case);
  }
}

void add_comparison(LogExpectation& log, int num_ranks) {
  const PipelineArguments arguments;
  log.add(0,
          ExpectedSentence{"[Rank 0] Baseline, in one process: number of layers {index}, of micro-batches {index}."});
  log.add(0, ExpectedSentence{"[Rank 0] Pipeline (pp {index}, schedule {word}, {word}): outputs and gradients, to "
                              "{number} of the baseline's norm."});
  const auto layers_of = [&](int rank) { return uneven_slice(arguments.number_of_layers, num_ranks, rank); };
  for (int rank = 0; rank < num_ranks; ++rank) {
    const Slice slice = layers_of(rank);
    log.add(rank, ExpectedSentence{fmt::format("[Rank {}] has layers {}", rank,
                                               slice.size == 1 ? fmt::format("{}", slice.begin)
                                                               : fmt::format("{}-{}", slice.begin, slice.end() - 1))});
  }
  log.add(num_ranks - 1, matches("Outputs", 1e-5));
  for (int rank = 0; rank < num_ranks; ++rank) {
    for (std::int64_t layer = layers_of(rank).begin; layer < layers_of(rank).end(); ++layer)
      log.add(rank, matches(fmt::format("Layer{}", layer), 1e-5));
  }
}

}  // namespace

LogExpectation expected_log(int num_ranks) {
  LogExpectation log(num_ranks);
  expect_announcement(log);
  add(log, sections_before_comparison());
  add_comparison(log, num_ranks);
  add(log, sections_after_comparison());
  log.add_on_every_rank(ExpectedSentence{"[Rank {rank}] done"});
  return log;
}

}  // namespace lab::a5
