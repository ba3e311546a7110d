#include "a9_collectives/cases/cases.h"

#include "common/testing/case_runs.h"
#include "common/testing/test.h"

// The reference solution passes every case, at every world size and with another seed.
namespace lab::a9 {
namespace {

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

}  // namespace
}  // namespace lab::a9
