#include "a5_pipeline/cases/log.h"

#include <fmt/format.h>

#include "a5_pipeline/arguments.h"
#include "a5_pipeline/cases/cases.h"
#include "common/checks/lab_main.h"
#include "common/tensor/partition.h"

namespace lab::a5 {
namespace {

ExpectedMatch matches(const std::string& prefix) {
  ExpectedMatch match;
  match.prefix = prefix;
  match.max_bound = 1e-4;  // 5 times the tolerance at the default sizes (comparisons.h): values are below 5
  return match;
}

void add_comparison(LogExpectation& log, int num_ranks) {
  const PipelineArguments arguments;
  log.add(0, ExpectedText{"[Rank 0] Baseline, in one process: number of layers {index}, of micro-batches {index}."});
  log.add(0, ExpectedText{"[Rank 0] Pipeline (pp {index}, schedule {word}, {word}): outputs and gradients, to "
                          "{number} of the baseline's norm."});
  const auto layers_of = [&](int rank) { return uneven_slice(arguments.number_of_layers, num_ranks, rank); };
  for (int rank = 0; rank < num_ranks; ++rank) {
    const Slice slice = layers_of(rank);
    log.add(rank, ExpectedText{fmt::format("[Rank {}] has layers {}", rank,
                                           slice.size == 1 ? fmt::format("{}", slice.begin)
                                                           : fmt::format("{}-{}", slice.begin, slice.end() - 1))});
  }
  log.add(num_ranks - 1, matches("Outputs"));
  for (int rank = 0; rank < num_ranks; ++rank) {
    for (std::int64_t layer = layers_of(rank).begin; layer < layers_of(rank).end(); ++layer)
      log.add(rank, matches(fmt::format("Layer{}", layer)));
  }
}

}  // namespace

LogExpectation expected_log(int num_ranks) {
  LogExpectation log(num_ranks);
  expect_announcement(log);
  expect_sections(log, sections_before_comparison());
  add_comparison(log, num_ranks);
  expect_sections(log, sections_after_comparison());
  log.add_on_every_rank(ExpectedText{"[Rank {rank}] done"});
  return log;
}

}  // namespace lab::a5
