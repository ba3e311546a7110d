#include <map>

#include "common/testing/case_names.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"

// The reference solution passes every case, at every world size and with another seed.
namespace lab::optc {
namespace {

/// Those of the sections, and those that a run does not print.
std::vector<Case> tensor_cases() {
  std::vector<Case> all = list_cases(tensor_sections());
  for (const Case& test_case : unprinted_tensor_cases()) all.push_back(test_case);
  return all;
}

void check_all_pass(int size, std::uint64_t seed) {
  // Four heads of vit, 120 features of pair-norm, 24 channels of resnet.
  const std::map<int, std::size_t> num_skipped = {{3, 1}, {5, 2}, {6, 1}, {7, 3}, {8, 1}};
  const auto found = num_skipped.find(size);
  CHECK(testing::problem_of_cases(tensor_cases(), calls(), launch::WorldKind::kThreads, size, seed,
                                  found == num_skipped.end() ? 0 : found->second) == "");
}

TEST_CASE("the reference passes every case of tensor parallelism within its bounds at every world size") {
  for (const int size : testing::world_sizes({1, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8})) check_all_pass(size, 42);
  check_all_pass(3, 20231);
}

/// Unlike in the tests above, what must be the same on all ranks is compared, too.
TEST_CASE("the reference is judged right in every case of tensor parallelism") {
  for (const int size : {2, 3}) {
    for (const CaseVerdict& verdict : run_checks(tensor_cases(), calls(), threads(size), 42)) {
      CAPTURE(verdict.name);
      CHECK(verdict.is_fine());
      CHECK(verdict.message() == "");
    }
  }
}

TEST_CASE("every case of tensor parallelism has a call and a unique name") {
  CHECK(testing::misnamed_case(all_cases(), calls()) == "");
}

}  // namespace
}  // namespace lab::optc
