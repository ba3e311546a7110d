#include "common/testing/case_names.h"
#include "common/testing/case_runs.h"
#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"

// The reference solution passes every case, at every world size and with another seed.
namespace lab::optc {
namespace {

void check_all_pass(int size, std::uint64_t seed) {
  // Four heads of vit, 24 channels of resnet.
  const std::size_t num_skipped = size == 5 ? 2 : size == 3 || size == 8 ? 1 : 0;
  CHECK(testing::problem_of_cases(cases_of(tensor_sections()), calls(), launch::WorldKind::kThreads, size, seed,
                                  num_skipped) == "");
}

TEST_CASE("the reference passes every case of tensor parallelism within its bounds at P = 1 2 3 4 5 8") {
  for (const int size : {1, 2, 3, 4, 5, 8}) check_all_pass(size, 42);
  check_all_pass(3, 20231);
}

TEST_CASE("every case of tensor parallelism has a call and a unique name") {
  CHECK(testing::misnamed_case(cases_of(tensor_sections()), calls()) == "");
}

}  // namespace
}  // namespace lab::optc
