#include "common/checks/section.h"

#include <cmath>

namespace lab {
namespace {

ExpectedLine line_of(const Case& test_case, int num_ranks) {
  const std::string reason = skip_reason_of(test_case, num_ranks);
  if (!reason.empty()) return ExpectedSkip{test_case.prefix, reason};
  ExpectedMatch match;
  match.prefix = test_case.prefix;
  match.max_bound = std::isfinite(test_case.tolerance.atol) ? test_case.tolerance.atol : 1e-5;
  return match;
}

}  // namespace

std::vector<Case> cases_of(const std::vector<Section>& sections) {
  std::vector<Case> all;
  for (const Section& section : sections) all.insert(all.end(), section.cases.begin(), section.cases.end());
  return all;
}

void run_sections(RankRun& run, const std::vector<Section>& sections, const CallTable& calls) {
  const bool first = run.comm.rank() == 0;
  for (const Section& section : sections) {
    if (first && run.only.empty()) run.out.text(0, section.message);
    for (const Case& test_case : section.cases) {
      if (is_asked(test_case, run.comm.rank())) run.check(test_case, calls);
    }
  }
}

void expect_sections(LogExpectation& log, const std::vector<Section>& sections) {
  for (const Section& section : sections) {
    log.add(0, ExpectedText{"[Rank 0] " + section.message});
    for (const Case& test_case : section.cases) {
      const ExpectedLine line = line_of(test_case, log.num_ranks());
      if (test_case.only_rank_zero) {
        log.add(0, line);
      } else {
        log.add_on_every_rank(line);
      }
    }
  }
}

}  // namespace lab
