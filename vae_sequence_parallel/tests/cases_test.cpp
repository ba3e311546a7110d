#include "vae_sequence_parallel/cases/cases.h"

#include "common/comm/sim_world.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"

// The reference solution passes every case, at every world size, with another seed, and in simulated time.
namespace lab::vae {
namespace {

/// The handout's sizes, which take long if many ranks share two cores, and find nothing that small ones do not.
bool is_full_size(const Case& test_case) {
  return test_case.name.find('_') != std::string::npos;
}

void check_all_pass(launch::WorldKind kind, int size, std::uint64_t seed) {
  std::vector<Case> cases;
  for (const Case& test_case : all_cases()) {
    if (size == 4 || !is_full_size(test_case)) cases.push_back(test_case);
  }
  CHECK(testing::problem_of_cases(cases, calls(), kind, size, seed) == "");
}

TEST_CASE("the reference passes every case within its bounds at every world size") {
  for (const int size : testing::world_sizes({1, 3, 4}, {1, 2, 3, 4, 5, 6, 8}))
    check_all_pass(launch::WorldKind::kThreads, size, 42);
  check_all_pass(launch::WorldKind::kThreads, 3, 20231);
}

TEST_CASE("and in the simulated world") {
  if (!comm::SimWorld::available()) {
    MESSAGE("skipped: this build has no SimGrid");
    return;
  }
  for (const int size : testing::world_sizes({3}, {1, 3, 5})) check_all_pass(launch::WorldKind::kSim, size, 42);
}

TEST_CASE("every mistake is wrong, and recognised") {
  CHECK(testing::unrecognised_mistake(all_cases(), 4) == "");
}

TEST_CASE("every tag chooses some sections, and every section has one") {
  CHECK(module_tags() ==
        std::vector<std::string>{"conv2d", "groupnorm", "upsample", "attn_block", "decoder", "memory"});
  std::size_t num_cases = 0;
  for (const std::string& tag : module_tags()) num_cases += list_cases(sections(tag)).size();
  CHECK(num_cases == all_cases().size());
  CHECK(sections("none").empty());
}

}  // namespace
}  // namespace lab::vae
