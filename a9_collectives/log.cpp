#include "a9_collectives/log.h"

#include "a9_collectives/cases.h"
#include "common/lab/lab_main.h"

namespace lab::a9 {
namespace {

ExpectedLine line_of(const Case& the_case, int num_ranks) {
  const std::string reason = the_case.skip_reason ? the_case.skip_reason(num_ranks) : "";
  if (!reason.empty()) return ExpectedSkip{the_case.prefix, reason};
  ExpectedMatch match;
  match.prefix = the_case.prefix;
  // Data whose sums are exact must be equal to the bit; a line of such a case says 0.
  match.max_bound = the_case.tolerance.atol;
  return match;
}

}  // namespace

LogExpectation expected_log(int num_ranks) {
  LogExpectation log(num_ranks);
  expect_announcement(log);
  for (const Section& section : sections()) {
    log.add(0, ExpectedSentence{"[Rank 0] " + section.sentence});
    for (const Case& the_case : section.cases) log.add_on_every_rank(line_of(the_case, num_ranks));
  }
  log.add_on_every_rank(ExpectedSentence{"[Rank {rank}] done"});
  return log;
}

}  // namespace lab::a9
