#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "a5_pipeline/calls/trials.h"
#include "a5_pipeline/cases/cases.h"
#include "a5_pipeline/cases/reference.h"
#include "a5_pipeline/pipeline_communicate.h"
#include "a5_pipeline/tests/wrong_pipeline.h"
#include "common/pipeline/run_schedule.h"
#include "common/testing/case_runs.h"
#include "common/testing/test.h"

// Each mistake that the README warns of, as a wrong solution, and the case that catches it, on 2 and on 4 stages.
namespace lab::a5 {
namespace {

using testing::contains;

TaskCall with(Mistake mistake) {
  return [mistake](Communicator& comm, const CaseInputs& inputs) {
    return results_of(run_wrong_pipeline(arguments_of(inputs), comm, mistake), comm);
  };
}

/// The verdict on the call in place of the named case's own, the same on 2 and on 4 ranks.
std::string verdict(const std::string& case_name, const TaskCall& call) {
  const std::string on_two = testing::verdict(all_cases(), case_name, call, 2);
  const std::string on_four = testing::verdict(all_cases(), case_name, call, 4);
  return on_two == on_four ? on_two : on_two + " / " + on_four;
}

/// The verdict on the whole pipeline, in both dtypes.
std::string verdict(Mistake mistake) {
  const std::string in_float32 = verdict("AllForwardAllBackward", with(mistake));
  const std::string in_float64 = verdict("AllForwardAllBackward64", with(mistake));
  return in_float32 == in_float64 ? in_float32 : in_float32 + " / " + in_float64;
}

TEST_CASE("wrong: one mistake in the loop of a stage") {
  struct Row {
    const char* what;
    Mistake mistake;
    const char* verdict = "mismatch";
  };
  for (const Row& row : {
           Row{"none: the reference passes in the same way", Mistake::kNone, "passed"},
           {"micro-batches come out in another order", Mistake::kOutputsReversed},
           {"the last stage goes backward through the last micro-batch first, its neighbours through the first",
            Mistake::kBackwardReversed},
           {"all gradients are zero", Mistake::kZeroGradients},
           {"a stage runs its backward pass twice", Mistake::kBackwardTwice},
           {"gradients are divided by the number of micro-batches", Mistake::kDividedByM},
           {"a stage drops the received gradient and uses ones", Mistake::kOnesForOutputGrad},
           {"outputs on every rank", Mistake::kOutputsOnEveryRank},
           {"the data loader is used on every rank", Mistake::kDataOnEveryStage},
           {"a loader is asked that is not there", Mistake::kAsksAbsentLoader,
            "rank 1: the data loader was asked for a micro-batch by a stage that takes its input from the stage "
            "before; hint: requires_dataloader()"},
           {"the first stage's input requires no gradient", Mistake::kNoGradOnFirstStage,
            "rank 0: PipelineStage::backward: expected an input that is a leaf and requires a gradient, got one that "
            "does not; hint: requires_grad_() before the forward pass, on the first stage too"},
       }) {
    CAPTURE(row.what);
    CHECK(verdict(row.mistake) == row.verdict);
  }
}

TEST_CASE("wrong: a micro-batch is missing") {
  CHECK(contains(verdict(Mistake::kLastMicroBatchMissing), "result 'outputs': "));
}

TEST_CASE("wrong: no pipeline at all: each rank computes the whole model, and returns its part") {
  const TaskCall alone = [](Communicator& comm, const CaseInputs& inputs) {
    const PipelineArguments arguments = arguments_of(inputs);
    const Reference whole = reference_of(arguments);
    PipelineResult part;
    if (comm.rank() == comm.size() - 1) part.outputs = whole.outputs;
    for (const std::int64_t layer : distribute_layers(arguments.number_of_layers, comm.rank(), comm.size())) {
      for (const char* weight : {"fc1", "fc2"}) {
        const std::string name = fmt::format("layer{}.{}", layer, weight);
        part.gradients[name] = whole.gradients.at(name);
      }
    }
    return results_of(part, comm);
  };
  CHECK(verdict("AllForwardAllBackward", alone) ==
        "0 messages sent of a5.all_forward_all_backward, expected at least 5");
}

TEST_CASE("wrong: other stages than the first require data") {
  CHECK(verdict("DataLoader", [](Communicator&, const CaseInputs& inputs) {
          const std::int64_t most_stages = inputs.integer("most_stages");
          return TensorMap{{"needs", at::ones({most_stages, most_stages}, at::kLong).tril()}};
        }) == "mismatch");
}

TEST_CASE("wrong: a batch that leaves an incomplete micro-batch is accepted") {
  CHECK(verdict("Arguments", [](Communicator& comm, const CaseInputs& inputs) {
          TensorMap results = calls().at("a5.check_arguments")(comm, inputs);
          const at::Tensor arguments = inputs.tensor("input.arguments");
          for (std::int64_t row = 0; row < arguments.size(0); ++row) {
            if (at::equal(arguments[row], at::tensor({12, 16, 3, 4}, at::kLong))) results["accepted"][row] = 1;
          }
          return results;
        }) == "mismatch");
}

TEST_CASE("wrong: layers / stages layers for each stage, so that some are dropped") {
  CHECK(contains(verdict(Mistake::kFloorDivision), "the call returns no result 'layer"));
  CHECK(verdict("DistributeLayers", [](Communicator&, const CaseInputs& inputs) {
          const std::int64_t most_layers = inputs.integer("most_layers"), most_stages = inputs.integer("most_stages");
          const at::Tensor owner = at::full({most_stages, most_layers, most_layers}, -1, at::kLong);
          for (std::int64_t stages = 1; stages <= most_stages; ++stages) {
            for (std::int64_t layers = 1; layers <= most_layers; ++layers) {
              const std::int64_t count = layers / stages;
              for (std::int64_t stage = 0; stage < stages; ++stage)
                owner[stages - 1][layers - 1].narrow(0, stage * count, count).fill_(stage);
            }
          }
          return TensorMap{{"owner", owner}, {"misplaced", at::zeros({1}, at::kLong)}};
        }) == "mismatch");
}

/// The verdicts on Q9's trials of this comparison of one micro-batch's output.
TaskCall outputs_compared(const std::function<bool(const at::Tensor&, const at::Tensor&)>& same) {
  return [same](Communicator&, const CaseInputs& inputs) {
    std::vector<std::int64_t> verdicts;
    for (const OutputsTrial& trial : outputs_trials_of(inputs)) {
      const auto& [outputs, baseline] = std::tie(trial.outputs, trial.baseline);
      const bool all =
          outputs.size() == baseline.size() && std::equal(outputs.begin(), outputs.end(), baseline.begin(), same);
      verdicts.push_back(trial.pp_rank != trial.pp_size - 1 ? -1 : all ? 1 : 0);
    }
    return TensorMap{{"verdicts", at::tensor(verdicts, at::kLong)}};
  };
}

/// The same for Q10; `same` also gets the weight's name.
TaskCall gradients_compared(const std::function<bool(const std::string&, const at::Tensor&, const at::Tensor&)>& same) {
  return [same](Communicator&, const CaseInputs& inputs) {
    std::vector<std::int64_t> verdicts;
    for (const GradientsTrial& trial : gradients_trials_of(inputs)) {
      for (const auto& [name, gradient] : trial.gradients)
        verdicts.push_back(same(name, gradient, trial.baseline.at(name)) ? 1 : 0);
    }
    return TensorMap{{"verdicts", at::tensor(verdicts, at::kLong)}};
  };
}

/// torch.testing.assert_close of float32.
bool assert_close(const at::Tensor& actual, const at::Tensor& expected) {
  return actual.defined() && at::allclose(actual, expected, 1.3e-6, 1e-5);
}

/// The comparison that the tasks ask for.
bool near(const at::Tensor& actual, const at::Tensor& expected) {
  return actual.defined() && expected.norm().item<double>() > 0 &&
         (actual - expected).norm().item<double>() <= 1e-6 * expected.norm().item<double>();
}

TEST_CASE("wrong: a comparison with an absolute tolerance") {
  CHECK(verdict("CompareOutputs", outputs_compared(assert_close)) == "mismatch");
  CHECK(verdict("CompareGradients",
                gradients_compared([](const std::string&, const at::Tensor& actual, const at::Tensor& expected) {
                  return assert_close(actual, expected);
                })) == "mismatch");
  CHECK(verdict("CompareOutputs", outputs_compared(near)) == "passed");
}

TEST_CASE("wrong: a gradient that never arrived is taken as right") {
  CHECK(verdict("CompareGradients",
                gradients_compared([](const std::string&, const at::Tensor& actual, const at::Tensor& expected) {
                  return !actual.defined() || near(actual, expected);
                })) == "mismatch");
}

TEST_CASE("wrong: only the last layer's gradients are compared") {
  const auto compared = [](bool only_last) {
    return gradients_compared(
        [only_last](const std::string& name, const at::Tensor& actual, const at::Tensor& expected) {
          return near(actual, expected) || (only_last && !contains(name, "layer3"));
        });
  };
  CHECK(verdict("CompareGradients", compared(true)) == "mismatch");
  CHECK(verdict("CompareGradients", compared(false)) == "passed");
}

std::string without_lines(const std::string& message) {
  return std::regex_replace(message, std::regex("[a-z_]+\\.cpp:[0-9]+"), "@");
}

TEST_CASE("wrong: each stage first waits for its output's gradient, then passes its input on") {
  const TaskCall waits_first = [](Communicator& comm, const CaseInputs& inputs) {
    PipelineArguments arguments;
    arguments.micro_batch_size = 2, arguments.sequence_length = 3, arguments.hidden_size = 5;
    PointToPoint& p2p = comm.point_to_point();
    pipeline_communicate(PipelineOperation::kRecvBackward, p2p, arguments);
    pipeline_communicate(PipelineOperation::kSendForward, p2p, arguments, inputs.tensor("input.output"));
    return TensorMap{{"input", pipeline_communicate(PipelineOperation::kRecvForward, p2p, arguments)}};
  };
  CHECK(without_lines(testing::verdict(all_cases(), "Communicate", waits_first, 2)) ==
        "deadlock: rank 0 waits to receive 120 B from rank 1 (@), rank 1 waits to receive 120 B from rank 0 (@)");
  CHECK(without_lines(testing::verdict(all_cases(), "Communicate", waits_first, 4)) ==
        "deadlock: rank 2 waits to receive 120 B from rank 3 (@), rank 3 waits to receive 120 B from rank 2 (@)");
}

TEST_CASE("wrong: 1f1b that sends an output, then waits for a gradient, while its neighbour does so the other way") {
  const TaskCall blocking = [](Communicator& comm, const CaseInputs& inputs) {
    pipeline::ScheduleOptions options = schedule_of(inputs, comm.size());
    options.waiting = pipeline::Waiting::kBlocking;
    return results_of(run_scheduled_pipeline(arguments_of(inputs), pipeline::make_schedule(options), comm), comm);
  };
  CHECK(without_lines(testing::verdict(all_cases(), "OneForwardOneBackward", blocking, 2)) ==
        "deadlock: rank 0 waits to send 384 B to rank 1 (@), rank 1 waits to send 384 B to rank 0 (@)");
  CHECK(contains(testing::verdict(all_cases(), "OneForwardOneBackward", blocking, 4), "deadlock: rank "));
}

}  // namespace
}  // namespace lab::a5
