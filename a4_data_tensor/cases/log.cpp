#include "a4_data_tensor/cases/log.h"

#include <string>

#include "a4_data_tensor/cases/cases.h"
#include "common/checks/lab_main.h"

namespace lab::a4 {
namespace {

ExpectedText of_rank_zero(const char* text) {
  return {"[Rank 0] " + std::string(text)};
}

ExpectedMatch matches(const std::string& prefix) {
  ExpectedMatch line;
  line.prefix = prefix;
  return line;
}

}  // namespace

LogExpectation expected_log(int num_ranks) {
  LogExpectation log(num_ranks);
  expect_announcement(log);
  log.add(0, of_rank_zero(kBaselineText));
  // Does not depend on the number of ranks, nor on the BLAS kernel: the figures of the handout's Python code.
  ExpectedMatch baseline;
  baseline.match = false;
  baseline.exact_max = "1.193051e-01";
  baseline.exact_mean = "3.029096e-02";
  log.add(0, baseline);
  log.add(0, of_rank_zero(kAccumulationText));
  log.add(0, matches(""));
  log.add(0, of_rank_zero(kDataParallelText));
  log.add_on_every_rank(matches("DataParallel"));
  log.add(0, of_rank_zero(kColumnParallelText));
  log.add_on_every_rank(matches("FullColumnParallel"));
  log.add_on_every_rank(ExpectedText{"[Rank {rank}] done"});
  log.add(0, of_rank_zero(kFurtherText));
  log.add(0, matches("SingleStep"));
  for (const Case& test_case : further_cases({})) log.add_on_every_rank(matches(test_case.prefix));
  return log;
}

}  // namespace lab::a4
