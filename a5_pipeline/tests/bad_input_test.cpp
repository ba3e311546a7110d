#include <fmt/format.h>

#include <regex>

#include "a5_pipeline/calls/pipelined_model.h"
#include "a5_pipeline/commands/schedules.h"
#include "a5_pipeline/data_loader.h"
#include "a5_pipeline/pipeline_communicate.h"
#include "a5_pipeline/pipeline_stage.h"
#include "common/api/errors.h"
#include "common/pipeline/generators.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Invalid input is rejected with one message that names the numbers.
namespace lab::a5 {
namespace {

PipelineArguments small_arguments() {
  PipelineArguments arguments;
  arguments.global_batch_size = 4;
  arguments.sequence_length = 3;
  arguments.hidden_size = 8;
  arguments.intermediate_size = 20;
  arguments.number_of_layers = 5;
  return arguments;
}

/// The outcome of a pipeline in which rank 1 has other arguments than the rest.
launch::WorldOutcome outcome_with(const PipelineArguments& odd, const std::string& kind, int size) {
  return launch::run_ranks(choose_world<Threads>(size), [&](Communicator& comm) {
    const PipelineArguments arguments = comm.rank() == 1 ? odd : small_arguments();
    if (kind.empty()) {
      run_handout_pipeline(arguments, comm);
    } else {
      run_scheduled_pipeline(arguments, pipeline::make_schedule({kind, size, 2, 1}), comm);
    }
    return TensorMap{};
  });
}

TEST_CASE("another shape or dtype from a neighbour: both ranks are named, and every rank ends") {
  PipelineArguments wide = small_arguments(), exact = small_arguments();
  wide.hidden_size = 16;
  exact.dtype = at::kDouble;
  static const std::regex form(
      "(rank [0-9] failed: )?(shape|dtype) mismatch: rank ([0-9]) sends (float32|float64) \\[2, 3, (8|16)\\] to rank "
      "([0-9]) \\([a-z_]+\\.cpp:[0-9]+\\), which expects (float32|float64) \\[2, 3, (8|16)\\] "
      "\\([a-z_]+\\.cpp:[0-9]+\\)");
  for (const std::string kind : {"", "1f1b", "zb-h1"}) {
    for (const int size : {2, 4}) {
      for (const bool wrong_dtype : {false, true}) {
        INFO("schedule '" << kind << "' on " << size << " ranks");
        const launch::WorldOutcome outcome = outcome_with(wrong_dtype ? exact : wide, kind, size);
        REQUIRE(outcome.failure);
        CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
        for (int rank = 0; rank < size; ++rank) {
          const std::string message = message_of_rank(outcome, rank);
          CAPTURE(message);
          std::smatch part;
          REQUIRE(std::regex_match(message, part, form));
          CHECK(part[2] == (wrong_dtype ? "dtype" : "shape"));
          CHECK((part[3] == "1" || part[6] == "1"));
        }
      }
    }
  }
}

TEST_CASE("the arguments: a layer for each stage, whole micro-batches") {
  PipelineArguments arguments = small_arguments();
  CHECK_NOTHROW(check_arguments(arguments, 5));
  CHECK_THROWS_WITH_AS(check_arguments(arguments, 6),
                       "--number-of-layers 5: expected at least one layer for each of the 6 stages; hint: fewer stages "
                       "(--pp) or more layers",
                       UsageError);
  arguments.micro_batch_size = 3;
  CHECK_THROWS_WITH_AS(check_arguments(arguments, 2),
                       "--global-batch-size 4: expected a multiple of the micro-batch size, 3; hint: choose "
                       "--micro-batch-size so that it divides",
                       UsageError);
  arguments.micro_batch_size = 0;
  CHECK_THROWS_AS(check_arguments(arguments, 2), UsageError);
  arguments.micro_batch_size = 8;
  CHECK_THROWS_AS(check_arguments(arguments, 2), UsageError);
}

TEST_CASE("the data loader: beyond its end, and on a rank that must not have one") {
  DataLoader data(small_arguments());
  data.next();
  data.next();
  CHECK_THROWS_WITH_AS(data.next(), "the data loader was asked for micro-batch 2; it has 0 to 1", ContractError);
  CHECK_THROWS_AS(data.micro_batch(-1), ContractError);
  DataLoader none = DataLoader::none(small_arguments());
  CHECK_THROWS_WITH_AS(none.next(),
                       "the data loader was asked for a micro-batch by a stage that takes its input from the stage "
                       "before; hint: requires_dataloader()",
                       ContractError);
}

TEST_CASE("PipelineStage::backward: an input without a gradient, one that is not a leaf, an undefined one") {
  PipelineStage stage(small_arguments(), {0});
  const at::Tensor plain = at::ones({2, 3, 8}), leaf = at::ones({2, 3, 8}).requires_grad_();
  for (const at::Tensor& input : {plain, leaf * 2}) {
    CHECK_THROWS_WITH_AS(
        stage.backward(input, stage.forward(input), {}),
        "PipelineStage::backward: expected an input that is a leaf and requires a gradient, got one that "
        "does not; hint: requires_grad_() before the forward pass, on the first stage too",
        ContractError);
  }
  const std::string undefined =
      "PipelineStage::backward: expected the forward pass's input and output, got an undefined one";
  CHECK_THROWS_WITH_AS(stage.backward({}, stage.forward(leaf), {}), undefined.c_str(), ContractError);
  CHECK_THROWS_WITH_AS(stage.backward(leaf, {}, {}), undefined.c_str(), ContractError);
  CHECK_NOTHROW(stage.backward(leaf, stage.forward(leaf), {}));
  CHECK_THROWS_AS(stage.forward(at::ones({2, 3, 9})), ContractError);
}

TEST_CASE("pipeline_communicate: nothing to send") {
  const launch::WorldOutcome outcome = launch::run_ranks(choose_world<Threads>(2), [](Communicator& comm) {
    const PipelineOperation operation =
        comm.rank() == 0 ? PipelineOperation::kSendForward : PipelineOperation::kRecvForward;
    pipeline_communicate(operation, comm.point_to_point(), small_arguments());
    return TensorMap{};
  });
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->message == "rank 0: pipeline_communicate: nothing to send to rank 1; expected [2, 3, 8]");
  CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
}

TEST_CASE("a schedule that does not admit the micro-batches or the layers") {
  const auto made = [](const char* kind, int num_chunks, int num_ranks) {
    return model_schedule(small_arguments(), kind, num_chunks, num_ranks);
  };
  CHECK(made("interleaved", 0, 2).num_stages() == 4);
  CHECK(made("1f1b", 0, 2).num_stages() == 2);
  CHECK_THROWS_WITH_AS(
      made("interleaved", 2, 4),
      "schedule interleaved: expected a multiple of 4 micro-batches, as many as ranks, got 2; hint: the "
      "others take any number",
      UsageError);
  CHECK_THROWS_WITH_AS(made("interleaved", 3, 2),
                       "--number-of-layers 5: expected at least one layer for each of the 6 stages (2 ranks with 3 "
                       "chunks each); hint: fewer ranks or chunks, or more layers",
                       UsageError);
  CHECK_THROWS_WITH_AS(made("1f1b", 3, 2),
                       "schedule 1f1b: expected 1 chunk on each rank, got 3; hint: only interleaved has more",
                       UsageError);
}

}  // namespace
}  // namespace lab::a5
