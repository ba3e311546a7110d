#include "optC_model_parallel/commands/log.h"

#include "optC_model_parallel/cases/cases.h"

namespace lab::optc {
namespace {

void expect_end(LogExpectation& log) {
  log.add_on_every_rank(ExpectedText{"[Rank {rank}] done"});
}

}  // namespace

CheckedTraining default_pipeline() {
  CheckedTraining training;
  training.title = "Pipeline";
  training.run = run_named("gpipe", {}, {});
  return training;
}

CheckedTraining default_tensor() {
  CheckedTraining training;
  training.title = "Tensor";
  training.run = run_named("pair-norm", {}, {});
  return training;
}

LogExpectation expected_log(int num_ranks) {
  LogExpectation log(num_ranks);
  expect_announcement(log);
  expect_sections(log, sections());
  expect_training(log, default_pipeline());
  expect_training(log, default_tensor());
  expect_end(log);
  return log;
}

LogExpectation expected_training_log(const CheckedTraining& training, int num_ranks) {
  LogExpectation log(num_ranks);
  expect_announcement(log);
  expect_training(log, training);
  expect_end(log);
  return log;
}

}  // namespace lab::optc
