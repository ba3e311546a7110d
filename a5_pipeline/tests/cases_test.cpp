#include "a5_pipeline/cases/cases.h"

#include "common/comm/sim_world.h"
#include "common/testing/case_runs.h"
#include "common/testing/test.h"

// The reference solution passes every case, at every world size, with another seed, and in simulated time.
namespace lab::a5 {
namespace {

void check_all_pass(launch::WorldKind kind, int size, std::uint64_t seed) {
  CHECK(testing::problem_of_cases(all_cases(), calls(), kind, size, seed) == "");
}

TEST_CASE("the reference passes every case at every world size") {
  for (const int size : testing::world_sizes({1, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8}))
    check_all_pass(launch::WorldKind::kThreads, size, 1234);
  check_all_pass(launch::WorldKind::kThreads, 4, 20231);
}

TEST_CASE("and in the simulated world") {
  if (!comm::SimWorld::available()) {
    MESSAGE("skipped: this build has no SimGrid");
    return;
  }
  for (const int size : testing::world_sizes({3}, {1, 3, 4})) check_all_pass(launch::WorldKind::kSim, size, 1234);
}

}  // namespace
}  // namespace lab::a5
