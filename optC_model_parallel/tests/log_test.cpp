#include <fmt/format.h>

#include <regex>
#include <tuple>

#include "common/log/match_line.h"
#include "common/testing/case_names.h"
#include "common/testing/log_mutations.h"
#include "common/testing/right_log.h"
#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/commands/training_run.h"

// The log expectation accepts a correct log and rejects every small corruption.
namespace lab::optc {
namespace {

enum Parts { kChecks = 1, kPipeline = 2, kTensor = 4, kAll = 7 };

void add_training(testing::RightLog& log, const std::string& title, const std::string& how, int num_ranks,
                  bool all_know) {
  log.line(
      fmt::format("[Rank 0] {}: {}; float64, sgd, batches of 32, seed 42; 1536 training and 512 test images, 4 "
                  "epochs",
                  title, how));
  for (int rank = 0; rank < num_ranks; ++rank) {
    if (!all_know) {
      log.line(
          fmt::format("[Rank {}] {}: stage {}: layers conv2-fc1; 50536 parameters, 404288 bytes, 288000 multiply-adds "
                      "per image (44.2 %)",
                      rank, title, rank));
    }
    const bool speaks = rank == (all_know ? 0 : num_ranks - 1);
    for (int epoch = 1; epoch <= 4; ++epoch) {
      if (speaks) {
        log.line(
            fmt::format("[Rank {}] {}: epoch {}: test loss 2.013355, accuracy 0.2617; one process: 2.013355, "
                        "0.2617",
                        rank, title, epoch));
      }
      log.match(fmt::format("{}Epoch{}", title, epoch), rank, 4.163336e-17);
    }
    if (speaks) log.line(fmt::format("[Rank {}] {}: 4608 images in 3.1 s, 1486 images/s", rank, title));
    if (!speaks && !all_know) continue;
    log.match(title + "Losses", rank, 4.440892e-16);
    log.match(title + "Predictions", rank, 0);
  }
}

std::string right_log(int num_ranks, int parts) {
  testing::RightLog log(num_ranks);
  if ((parts & kChecks) != 0) log.check(sections());
  if ((parts & kPipeline) != 0) {
    const std::string how = fmt::format("tutorial in {} stages, gpipe, 4 micro-batches", num_ranks);
    add_training(log, "Pipeline", how, num_ranks, false);
  }
  if ((parts & kTensor) != 0)
    add_training(log, "Tensor", fmt::format("pair-norm, layers split over {} ranks", num_ranks), num_ranks, true);
  return log.done();
}

log::LogExpectation expected_log(int num_ranks) {
  return make_expectation(program_steps(sections(), {default_pipeline(), default_tensor()}, {}), num_ranks);
}

log::LogExpectation expected_training_log(const TrainingRun& training, int num_ranks) {
  return make_expectation(program_steps({}, {training}, {}), num_ranks);
}

TEST_CASE("the expectations accept right logs, at every world size") {
  for (const int num_ranks : {1, 2, 3, 4, 5, 8}) {
    CAPTURE(num_ranks);
    CHECK(testing::first_problem(right_log(num_ranks, kAll), expected_log(num_ranks)) == "");
    CHECK(testing::first_problem(right_log(num_ranks, kPipeline),
                                 expected_training_log(default_pipeline(), num_ranks)) == "");
    CHECK(testing::first_problem(right_log(num_ranks, kTensor), expected_training_log(default_tensor(), num_ranks)) ==
          "");
  }
}

TEST_CASE("the expectation refuses a log of another number of ranks, or of a part") {
  CHECK(testing::first_problem(right_log(4, kAll), expected_log(2)) != "");
  CHECK(testing::first_problem(right_log(2, kAll), expected_log(4)) != "");
  CHECK(testing::first_problem(right_log(2, kChecks | kPipeline), expected_log(2)) != "");
  CHECK(testing::first_problem(right_log(2, kPipeline | kTensor), expected_log(2)) != "");
}

TEST_CASE("weights that are 1e-5 apart, or one other prediction, are refused, whatever the line says") {
  for (const auto& [prefix, right, wrong] :
       {std::tuple<const char*, double, double>{"PipelineEpoch3", 4.163336e-17, 1e-5},
        {"TensorLosses", 4.440892e-16, 1e-5},
        {"TensorPredictions", 0, 1}}) {
    CAPTURE(prefix);
    std::string log = right_log(2, kAll);
    const std::string line = format(log::MatchLine{prefix, 1, true, right, right / 4});
    REQUIRE(log.find(line) != std::string::npos);
    log.replace(log.find(line), line.size(), format(log::MatchLine{prefix, 1, true, wrong, wrong / 4}));
    CHECK(testing::first_problem(log, expected_log(2)) != "");
  }
}

/// The names of the model, the dtype and so on come from the run's options; with other letters they name others.
bool names_another_run(const LogMutation& mutation) {
  static const std::regex form(
      ".*with another letter: \\[Rank [0-9]\\] (Pipeline|Tensor): "
      "(.*; [a-z0-9]+, [a-z]+, batches of .*|stage [0-9a-z]+: layers [a-z0-9-]+; .*)");
  return std::regex_match(mutation.what, form);
}

TEST_CASE("the expectation refuses every line deleted, duplicated or falsified in turn") {
  const log::LogExpectation expectation = expected_log(2);
  const auto mutations = log_mutations(right_log(2, kAll));
  CHECK(mutations.size() > 300);
  for (const LogMutation& mutation : mutations) {
    CAPTURE(mutation.what);
    if (names_another_run(mutation)) continue;
    CHECK(testing::first_problem(mutation.text, expectation) != "");
  }
}

TEST_CASE("every case has a call and a unique name") {
  CHECK(testing::misnamed_case(all_cases(), calls()) == "");
}

}  // namespace
}  // namespace lab::optc
