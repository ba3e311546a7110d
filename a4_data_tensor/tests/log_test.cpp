#include <fmt/format.h>

#include "a4_data_tensor/cases/cases.h"
#include "common/log/check_log.h"
#include "common/log/match_line.h"
#include "common/testing/log_mutations.h"
#include "common/testing/test.h"

// The log expectation accepts a correct log and rejects every small corruption of it.
namespace lab::a4 {
namespace {

std::string right_log(int num_ranks) {
  std::string log;
  const auto line = [&](const std::string& text) { log += text + "\n"; };
  const auto on_every_rank = [&](const std::string& prefix) {
    for (int rank = 0; rank < num_ranks; ++rank)
      line(format(log::MatchLine{prefix, rank, true, 2.384186e-07, 5.065431e-09}));
  };
  for (int rank = num_ranks - 1; rank >= 0; --rank)
    line(fmt::format("[Distributed Init] Rank {} initialized on N/A on CPU {}.", rank, rank));
  line("[Rank 0] All ranks ready!");
  line("[Rank 0] Compute the updated matrix which should be different from the initial weight matrix.");
  line("[Rank 0] Tensors match: False | Max diff: 1.193051e-01 | Mean diff: 3.029096e-02");
  line("[Rank 0] Compute the updated weight using batch accumulation. They should match.");
  line(format(log::MatchLine{"", 0, true, 2.384186e-07, 4.493632e-09}));
  line("[Rank 0] Compute the updated weight using data parallelism.");
  on_every_rank("DataParallel");
  line("[Rank 0] Compute the updated weight using tensor parallelism (FullColumnParallelLinear).");
  on_every_rank("FullColumnParallel");
  for (int rank = 0; rank < num_ranks; ++rank) line(fmt::format("[Rank {}] done", rank));
  line(
      "[Rank 0] Beyond the handout: the update by hand, exact data, gradients of the input, bias, row parallel, column "
      "and row.");
  line(format(log::MatchLine{"SingleStep", 0, true, 5.960464e-08, 1e-09}));
  for (const char* prefix : {"BroadcastParallel", "GatherParallel", "InputGrad", "Bias", "RowParallel", "ColumnRow"})
    on_every_rank(prefix);
  return log;
}

TEST_CASE("the expectation accepts a right log, at every world size") {
  for (const int num_ranks : {1, 2, 4, 8}) {
    CAPTURE(num_ranks);
    const std::vector<std::string> problems = log::check_log(right_log(num_ranks), expected_log(num_ranks));
    CHECK_MESSAGE(problems.empty(), (problems.empty() ? "" : problems.front()));
  }
}

TEST_CASE("the expectation refuses a log of another number of ranks") {
  CHECK_FALSE(log::check_log(right_log(4), expected_log(2)).empty());
  CHECK_FALSE(log::check_log(right_log(2), expected_log(4)).empty());
}

TEST_CASE("the expectation refuses every line deleted, duplicated or falsified in turn") {
  const auto mutations = log_mutations(right_log(4));
  CHECK(mutations.size() > 200);
  const log::LogExpectation expectation = expected_log(4);
  for (const LogMutation& mutation : mutations) {
    CAPTURE(mutation.what);
    CHECK_FALSE(log::check_log(mutation.text, expectation).empty());
  }
}

}  // namespace
}  // namespace lab::a4
