#include "common/testing/log_mutations.h"

#include <set>

#include "common/log/check_log.h"
#include "common/log/tests/sample_log.h"
#include "common/testing/plain_test.h"

TEST_CASE("log mutations: every one of them is refused") {
  const std::string right = lab::testing::sample_log();
  const lab::log::LogExpectation expectation = lab::testing::sample_expectation();
  REQUIRE(lab::log::check_log(right, expectation).empty());
  std::set<std::string> seen;
  for (const lab::LogMutation& mutation : lab::log_mutations(right)) {
    INFO(mutation.what);
    CHECK(mutation.text != right);
    CHECK_FALSE(lab::log::check_log(mutation.text, expectation).empty());
    seen.insert(mutation.text);
  }
  CHECK(seen.size() > 500);
}

TEST_CASE("log mutations: every line is deleted, duplicated and falsified") {
  const std::string right = lab::testing::sample_log();
  std::size_t deleted = 0, duplicated = 0, flipped = 0, swapped = 0;
  for (const lab::LogMutation& mutation : lab::log_mutations(right)) {
    const auto says = [&](const char* word) { return mutation.what.find(word) != std::string::npos; };
    if (says("deleted")) ++deleted;
    if (says("duplicated")) ++duplicated;
    if (says("flipped")) ++flipped;
    if (says("swapped")) ++swapped;
  }
  CHECK(deleted == 18);
  CHECK(duplicated == 18);
  CHECK(flipped == 5);
  CHECK(swapped == 15);
}

TEST_CASE("log mutations: an expectation that is too lax is detected") {
  // Without a bound on the figures, without an order, or with one line less to expect, some mutation passes.
  lab::log::LogExpectation lax = lab::testing::sample_expectation();
  std::get<lab::log::ExpectedMatch>(lax.per_rank[1][1]).max_bound = 1e38;
  std::size_t accepted = 0;
  for (const lab::LogMutation& mutation : lab::log_mutations(lab::testing::sample_log())) {
    if (lab::log::check_log(mutation.text, lax).empty()) ++accepted;
  }
  CHECK(accepted == 1);
}
