#include "common/comm/sim_world.h"
#include "common/testing/case_names.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"

// The reference solution passes every case of the pipeline, at every world size, with another seed, and in simulated
// time.
namespace lab::optc {
namespace {

void check_all_pass(launch::WorldKind kind, int size, std::uint64_t seed) {
  CHECK(testing::problem_of_cases(cases_of(pipeline_sections()), calls(), kind, size, seed) == "");
}

TEST_CASE("every case of the pipeline has a call and a unique name") {
  CHECK(testing::misnamed_case(cases_of(pipeline_sections()), calls()) == "");
}

TEST_CASE("the reference passes every case of the pipeline at P = 1 2 3 4 5 8") {
  for (const int size : {1, 2, 3, 4, 5, 8}) check_all_pass(launch::WorldKind::kThreads, size, 1234);
  check_all_pass(launch::WorldKind::kThreads, 4, 20231);
}

TEST_CASE("every mistake is wrong, and recognised") {
  CHECK(testing::unrecognised_mistake(cases_of(pipeline_sections()), 3) == "");
}

TEST_CASE("and in the simulated world: a pipeline does not communicate inside backward()") {
  if (!comm::SimWorld::available()) {
    MESSAGE("skipped: this build has no SimGrid");
    return;
  }
  for (const int size : {1, 3}) check_all_pass(launch::WorldKind::kSim, size, 1234);
}

}  // namespace
}  // namespace lab::optc
