#include "a9_collectives/cases/log.h"

#include "a9_collectives/cases/cases.h"

namespace lab::a9 {

LogExpectation expected_log(int num_ranks) {
  LogExpectation log(num_ranks);
  expect_announcement(log);
  expect_sections(log, sections());
  log.add_on_every_rank(ExpectedText{"[Rank {rank}] done"});
  return log;
}

}  // namespace lab::a9
