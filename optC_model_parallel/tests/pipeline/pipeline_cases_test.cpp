#include "common/comm/sim_world.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"

// The reference solution passes every case of the pipeline, at every world size, with another seed, and in simulated
// time.
namespace lab::optc {
namespace {

void check_all_pass(const std::vector<Case>& cases, launch::WorldKind kind, int size, std::uint64_t seed) {
  CHECK(testing::problem_of_cases(cases, calls(), kind, size, seed) == "");
}

TEST_CASE("the reference passes every case of the pipeline at every world size") {
  for (const int size : testing::world_sizes({1, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8}))
    check_all_pass(list_cases(pipeline_sections()), launch::WorldKind::kThreads, size, 1234);
  check_all_pass(list_cases(pipeline_sections()), launch::WorldKind::kThreads, 4, 20231);
}

TEST_CASE("the reference passes the cases that a run does not print: long ones, and those in float32") {
  for (const int size : testing::world_sizes({3, 4}, {1, 2, 3, 4, 7, 8}))
    check_all_pass(unprinted_pipeline_cases(), launch::WorldKind::kThreads, size, 1234);
}

TEST_CASE("every mistake is wrong, and recognised") {
  CHECK(testing::unrecognised_mistake(list_cases(pipeline_sections()), 3) == "");
}

TEST_CASE("and in the simulated world") {
  if (!comm::SimWorld::available()) {
    MESSAGE("skipped: this build has no SimGrid");
    return;
  }
  for (const int size : testing::world_sizes({3}, {1, 3}))
    check_all_pass(list_cases(pipeline_sections()), launch::WorldKind::kSim, size, 1234);
}

}  // namespace
}  // namespace lab::optc
