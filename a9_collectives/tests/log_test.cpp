#include "a9_collectives/cases/cases.h"
#include "common/log/check_log.h"
#include "common/log/match_line.h"
#include "common/testing/case_names.h"
#include "common/testing/log_mutations.h"
#include "common/testing/right_log.h"
#include "common/testing/test.h"

// The log expectation accepts a right log and rejects every small corruption of it.
namespace lab::a9 {
namespace {

log::LogExpectation expected_log(int num_ranks) {
  return make_expectation(program_steps(), num_ranks);
}

std::string right_log(int num_ranks) {
  testing::RightLog log(num_ranks);
  log.check(sections());
  return log.done();
}

TEST_CASE("the expectation accepts a right log, at every world size") {
  for (const int num_ranks : {1, 2, 3, 4, 5, 8}) {
    CAPTURE(num_ranks);
    const std::vector<std::string> problems = log::check_log(right_log(num_ranks), expected_log(num_ranks));
    CHECK_MESSAGE(problems.empty(), (problems.empty() ? "" : problems.front()));
  }
}

TEST_CASE("the expectation refuses a log of another number of ranks, and one whose exact lines are not exact") {
  CHECK_FALSE(log::check_log(right_log(4), expected_log(2)).empty());
  CHECK_FALSE(log::check_log(right_log(2), expected_log(4)).empty());
  std::string log = right_log(2);
  const std::string exact = format(log::MatchLine{"AllReduce", 1, true, 0, 0});
  log.replace(log.find(exact), exact.size(), format(log::MatchLine{"AllReduce", 1, true, 1e-7, 1e-8}));
  CHECK_FALSE(log::check_log(log, expected_log(2)).empty());
}

TEST_CASE("the expectation refuses every line deleted, duplicated or falsified in turn") {
  for (const int num_ranks : {2, 3}) {  // with 3 ranks some checks are skipped
    const auto mutations = log_mutations(right_log(num_ranks));
    CHECK(mutations.size() > 500);
    const log::LogExpectation expectation = expected_log(num_ranks);
    for (const LogMutation& mutation : mutations) {
      CAPTURE(mutation.what);
      CHECK_FALSE(log::check_log(mutation.text, expectation).empty());
    }
  }
}

TEST_CASE("every case has a call and its own name") {
  CHECK(testing::misnamed_case(all_cases(), calls()) == "");
}

}  // namespace
}  // namespace lab::a9
