#include "a4_data_tensor/cases/log.h"

#include <string>

#include "a4_data_tensor/cases/cases.h"
#include "common/checks/lab_main.h"

namespace lab::a4 {
namespace {

ExpectedSentence of_rank_zero(const char* text) {
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
  log.add(0, of_rank_zero(kBaselineSentence));
  // Does not depend on the number of ranks, nor on the BLAS kernel: the figures of the handout's Python code.
  ExpectedMatch baseline;
  baseline.match = false;
  baseline.exact_max = "1.193051e-01";
  baseline.exact_mean = "3.029096e-02";
  log.add(0, baseline);
  log.add(0, of_rank_zero(kAccumulationSentence));
  log.add(0, matches(""));
  log.add(0, of_rank_zero(kDataParallelSentence));
  log.add_on_every_rank(matches("DataParallel"));
  log.add(0, of_rank_zero(kColumnParallelSentence));
  log.add_on_every_rank(matches("FullColumnParallel"));
  log.add_on_every_rank(ExpectedSentence{"[Rank {rank}] done"});
  log.add(0, of_rank_zero(kFurtherSentence));
  log.add(0, matches("SingleStep"));
  for (const Case& the_case : further_cases({})) log.add_on_every_rank(matches(the_case.prefix));
  return log;
}

}  // namespace lab::a4
