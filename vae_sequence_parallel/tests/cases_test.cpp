#include "vae_sequence_parallel/cases/cases.h"

#include <fmt/format.h>

#include <tuple>

#include "common/comm/sim_world.h"
#include "common/log/match_line.h"
#include "common/testing/case_names.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/log_mutations.h"
#include "common/testing/right_log.h"
#include "common/testing/test.h"

namespace lab::vae {
namespace {

// The reference solution passes every case, at every world size, with another seed, and in simulated time.

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

// The log expectation accepts a correct log and refuses every small change to it.

std::string right_log(int num_ranks, bool modules, bool reconstruction) {
  testing::RightLog log(num_ranks);
  if (modules) log.check(sections());
  if (reconstruction) {
    log.line("[Rank 0] A picture of 256 x 200, encoded to a latent [1, 16, 25, 32], decoded in one process.");
    log.line("[Rank 0] What was decoded has 24.31 dB PSNR to the picture.");
    for (int rank = 0; rank < num_ranks; ++rank) {
      log.match("Reconstruction", rank, 1.192093e-06);
      log.line(fmt::format("[Rank {}] held at most 12.85 MB of activations; one process held 42.09 MB", rank));
    }
    log.line("[Rank 0] Of 153600 samples of the two JPEGs, 7 differ by one step of 8 bits and 0 by more.");
    log.match("Jpegs", 0, 1);
  }
  return log.done();
}

TEST_CASE("the expectations accept right logs, at every world size") {
  for (const int num_ranks : {1, 2, 3, 4, 5, 8}) {
    CAPTURE(num_ranks);
    CHECK(testing::first_problem(right_log(num_ranks, true, true), expected_log(num_ranks)) == "");
    CHECK(testing::first_problem(right_log(num_ranks, true, false), make_expectation(modules_steps(), num_ranks)) ==
          "");
    CHECK(testing::first_problem(right_log(num_ranks, false, true), make_expectation(test_steps({}), num_ranks)) == "");
  }
}

TEST_CASE("the expectation refuses a log of another number of ranks, or of a part") {
  CHECK(testing::first_problem(right_log(4, true, true), expected_log(2)) != "");
  CHECK(testing::first_problem(right_log(2, true, true), expected_log(4)) != "");
  CHECK(testing::first_problem(right_log(2, true, false), expected_log(2)) != "");
  CHECK(testing::first_problem(right_log(2, false, true), expected_log(2)) != "");
}

TEST_CASE("impossible numbers are refused, whatever the line says") {
  for (const auto& [prefix, right, wrong] : {std::tuple<const char*, double, double>{"Jpegs", 1, 2},
                                             {"Reconstruction", 1.192093e-06, 0.01},
                                             {"GroupNormSameEverywhere", 0, 1e-7}}) {
    CAPTURE(prefix);
    std::string log = right_log(2, true, true);
    const std::string line = format(log::MatchLine{prefix, 0, true, right, right / 4});
    REQUIRE(log.find(line) != std::string::npos);
    log.replace(log.find(line), line.size(), format(log::MatchLine{prefix, 0, true, wrong, wrong / 4}));
    CHECK(testing::first_problem(log, expected_log(2)) != "");
  }
}

TEST_CASE("the expectation refuses every line deleted, duplicated or falsified in turn") {
  const log::LogExpectation expectation = expected_log(2);
  const auto mutations = log_mutations(right_log(2, true, true));
  CHECK(mutations.size() > 500);
  for (const LogMutation& mutation : mutations) {
    CAPTURE(mutation.what);
    CHECK(testing::first_problem(mutation.text, expectation) != "");
  }
}

TEST_CASE("every case has a call and a unique name, every section a tag") {
  CHECK(testing::misnamed_case(all_cases(), calls()) == "");
  std::size_t num_by_tag = 0;
  for (const std::string& tag : module_tags()) num_by_tag += list_cases(sections(tag)).size();
  CHECK(num_by_tag == all_cases().size());
  for (const char* tag : {"conv2d", "groupnorm", "upsample", "attn_block", "decoder"}) {
    CAPTURE(tag);
    CHECK_FALSE(sections(tag).empty());
  }
}

}  // namespace
}  // namespace lab::vae
