#include "grading/judge/case_package.h"

#include <set>

#include "common/api/errors.h"
#include "common/tensor/exact_data.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "grading/judge/grade_hand_in.h"
#include "grading/judge/judging_place.h"

namespace lab::grading {
namespace {

constexpr std::uint64_t kRunSeed = 42;

/// A case whose task gets a seed; all ranks' inputs follow from the run's.
Case seeded(const std::string& name) {
  Case test_case;
  test_case.task = "a0.double";
  test_case.name = name;
  test_case.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.seed = place.seed;
    inputs.tensors = {{"input.x", exact_values({place.size, 3}, at::kFloat, place.seed)},
                      {"input.y", exact_values({2}, at::kFloat, place.seed)}};
    return inputs;
  };
  test_case.keep_own_part = [](const CasePlace& place, TensorMap& inputs) {
    inputs.at("input.x") = only_part(inputs.at("input.x"), 0, {place.rank, 1});
    inputs.erase("input.y");
  };
  return test_case;
}

/// Stand in for those of ranks.
pid_t find_process(int rank) {
  return rank == 0 ? ::getpid() : ::getppid();
}

/// What the rank is sent next; it then hands in an empty record.
CaseInputs sent_to(CasePackage& handout, int rank) {
  const std::optional<std::string> bytes = handout.next(rank, find_process(rank));
  REQUIRE(bytes);
  const CaseInputs inputs = inputs_from_bytes(*bytes);
  CaseRecord record;
  record.task = inputs.task;
  record.name = inputs.name;
  record.call = inputs.call;
  handout.done(rank, find_process(rank), bytes_of_record(record), {});
  return inputs;
}

TEST_CASE("a rank is sent its own part of the inputs, as the run's seed gives it") {
  CasePackage handout({seeded("First")}, 2, kRunSeed);
  const at::Tensor all = exact_values({2, 3}, at::kFloat, kRunSeed);
  for (const int rank : {0, 1}) {
    const CaseInputs inputs = sent_to(handout, rank);
    CHECK(inputs.tensors.size() == 1);
    CHECK(at::equal(inputs.tensor("input.x")[rank], all[rank]));
    CHECK(inputs.tensor("input.x")[1 - rank].isnan().all().item<bool>());
  }
}

TEST_CASE("the seed that a task gets is the same on every rank, another in each call and case, and not the run's") {
  CasePackage handout({seeded("First"), seeded("Second")}, 2, kRunSeed);
  std::vector<std::uint64_t> of_rank_0;
  for (int call = 0; call < 4; ++call) of_rank_0.push_back(sent_to(handout, 0).seed);
  for (const std::uint64_t seed : of_rank_0) CHECK(sent_to(handout, 1).seed == seed);
  const std::set<std::uint64_t> different(of_rank_0.begin(), of_rank_0.end());
  CHECK(different.size() == 4);
  CHECK(different.count(kRunSeed) == 0);
  const std::uint64_t first = of_rank_0.front();
  CasePackage other({seeded("First")}, 2, kRunSeed);
  CHECK(sent_to(other, 0).seed != first);
}

/// The names of those that are others with the other seed: of numbers with a fraction, since two draws of a few integers
/// may be the same.
std::set<std::string> differing(const TensorMap& one, const TensorMap& other) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : one) {
    const auto found = other.find(name);
    if (found != other.end() && tensor.defined() && tensor.is_floating_point() && !tensor.equal(found->second))
      names.insert(name);
  }
  return names;
}

TEST_CASE("what ranks of each lab are sent depends on all bits of a seed, too many to be tried") {
  CHECK((secret_seed() >> 32) != 0);
  constexpr std::uint64_t kSeed = 0x9876543212345678;
  for (const JudgedLab& lab : judged_labs()) {
    for (const Case& test_case : lab.cases()) {
      if (!find_skip_reason(test_case, 2).empty()) continue;
      CAPTURE(test_case.name);
      const auto drawn = [&](std::uint64_t seed) { return test_case.inputs({0, 2, seed}).tensors; };
      const TensorMap inputs = drawn(kSeed);
      CHECK(differing(inputs, drawn(kSeed ^ std::uint64_t{1} << 50)) == differing(inputs, drawn(kSeed ^ 1)));
    }
  }
}

TEST_CASE("a case is sent twice, with other data of the same sizes, and its calls come back in this order") {
  Case only_once = seeded("Once");
  only_once.once = "a whole training";
  CasePackage handout({seeded("First"), only_once}, 2, kRunSeed);
  const CaseInputs first = sent_to(handout, 0), second = sent_to(handout, 0), once = sent_to(handout, 0);
  CHECK(first.name == "First");
  CHECK(first.call == 1);
  CHECK(second.name == "First");
  CHECK(second.call == 2);
  CHECK(first.tensor("input.x").sizes() == second.tensor("input.x").sizes());
  CHECK_FALSE(at::equal(first.tensor("input.x")[0], second.tensor("input.x")[0]));
  CHECK(once.name == "Once");
  CHECK_FALSE(handout.next(0, find_process(0)));
  REQUIRE(handout.next(1, find_process(1)));
  CaseRecord ahead;
  ahead.task = first.task;
  ahead.name = first.name;
  ahead.call = 2;
  CHECK(testing::get_message<UsageError>([&] { handout.done(1, find_process(1), bytes_of_record(ahead), {}); }) ==
        "a result of First's call 2 in place of call 1");
}

TEST_CASE("two ranks in one process get no work") {
  CasePackage handout({seeded("First")}, 2, kRunSeed);
  REQUIRE(handout.next(0, ::getpid()));
  CHECK(testing::contains(testing::get_message<UsageError>([&] { handout.next(1, ::getpid()); }),
                          "as rank 0 and as rank 1"));
}

}  // namespace
}  // namespace lab::grading
