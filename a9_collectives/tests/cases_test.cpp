#include "a9_collectives/cases/cases.h"

#include "common/log/check_log.h"
#include "common/log/match_line.h"
#include "common/testing/case_names.h"
#include "common/testing/case_runs.h"
#include "common/testing/log_mutations.h"
#include "common/testing/right_log.h"
#include "common/testing/test.h"

namespace lab::a9 {
namespace {

// The reference solution passes every case, at every world size and with another seed.

TEST_CASE("the reference passes every case within its bounds at every world size") {
  const std::vector<Case> cases = all_cases();
  for (const int size : testing::world_sizes({1, 3, 4}, {1, 2, 3, 4, 5, 8})) {
    // The handout's block has 4 heads; 8 MiB are sent among 4 ranks.
    const std::size_t num_skipped = (4 % size == 0 ? 0 : 2) + (size == 4 ? 0 : 3);
    CHECK(testing::problem_of_cases(cases, calls(), launch::WorldKind::kThreads, size, 42, num_skipped) == "");
  }
  std::vector<Case> cheap;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(cheap), [](const Case& one) { return !one.costly; });
  CHECK(testing::problem_of_cases(cheap, calls(), launch::WorldKind::kThreads, 4, 20231) == "");
}

TEST_CASE("only the default seed gives the handout's numbers, any other gives numbers of its own") {
  const std::vector<Case> cases = all_cases();
  const auto make_input = [&](const char* name, int rank, std::uint64_t seed) {
    const CaseInputs inputs = named_cases(cases, name, "check").at(0).inputs({rank, 4, seed});
    REQUIRE(inputs.tensors.size() == 1);
    return inputs.tensors.begin()->second;
  };
  const auto is = [](const at::Tensor& given, std::initializer_list<float> values) {
    return given.view({-1}).equal(at::tensor(values));
  };
  CHECK(is(make_input("Broadcast", 0, 42), {10}));
  CHECK(is(make_input("AllReduce", 2, 42), {3}));
  CHECK(is(make_input("AllGather", 3, 42), {3, 13}));
  CHECK(is(make_input("ReduceScatter", 1, 42), {4, 5, 6, 7}));
  CHECK(is(make_input("AllToAll", 3, 42), {12, 13, 14, 15}));
  for (const char* name : {"Broadcast", "AllReduce", "AllGather", "ReduceScatter", "AllToAll"}) {
    CAPTURE(name);
    for (const int rank : {0, 1, 2, 3}) {
      const at::Tensor one = make_input(name, rank, 7), other = make_input(name, rank, 20231);
      CHECK(one.sizes() == make_input(name, rank, 42).sizes());
      CHECK((one.scalar_type() == at::kFloat));
      // A single drawn number may be the handout's by chance; all four ranks' never are.
      if (one.numel() > 1) CHECK_FALSE(one.equal(other));
    }
    std::vector<at::Tensor> given, drawn;
    for (const int rank : {0, 1, 2, 3}) {
      given.push_back(make_input(name, rank, 42));
      drawn.push_back(make_input(name, rank, 7));
    }
    CHECK_FALSE(at::cat(given).equal(at::cat(drawn)));
  }
}

// The log expectation accepts a right log and rejects every small corruption of it.

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
