#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "a5_pipeline/calls/calls.h"
#include "a5_pipeline/calls/trials.h"
#include "a5_pipeline/cases/cases.h"
#include "a5_pipeline/cases/reference.h"
#include "a5_pipeline/comparisons.h"
#include "a5_pipeline/pipeline_communicate.h"
#include "a5_pipeline/tests/wrong_pipeline.h"
#include "common/pipeline/run_schedule.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
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

TEST_CASE("wrong: micro-batches of two, whatever the arguments say: only other sizes show it") {
  CHECK(verdict("AllForwardAllBackward", with(Mistake::kTwoPerMicroBatch)) == "passed");
  CHECK(contains(verdict("AllForwardAllBackward64", with(Mistake::kTwoPerMicroBatch)),
                 "the data loader was asked for micro-batch 6; it has 0 to 5"));
}

TEST_CASE("wrong: a copy of every activation is kept: only the memory shows it") {
  for (const char* name : {"AllForwardAllBackward", "AllForwardAllBackward64", "AllForwardAllBackwardLong"}) {
    for (const int num_ranks : {2, 3, 4, 8}) {
      CAPTURE(name);
      CAPTURE(num_ranks);
      CHECK(contains(testing::verdict(all_cases(), name, with(Mistake::kKeepsActivations), num_ranks),
                     " of one process's memory ("));
    }
  }
}

/// The message about results like these on 4 ranks.
std::string message_about(const std::vector<at::Tensor>& outputs) {
  const TaskCall call = [&](Communicator& comm, const CaseInputs& inputs) {
    PipelineResult result = run_handout_pipeline(arguments_of(inputs), comm);
    if (comm.rank() == comm.size() - 1) result.outputs = outputs;
    return results_of(result, comm);
  };
  return testing::judged(pipeline_cases().front(), call, 4).message();
}

TEST_CASE("wrong: outputs that are undefined, or not of one shape, are named with their rank") {
  const at::Tensor one = at::ones({2, 3, 16});
  CHECK(contains(message_about({one, one, {}, one, one}),
                 "rank 3, result 'outputs' is undefined, expected float32 [5, 2, 3, 16]"));
  CHECK(
      contains(message_about({one, at::ones({2, 16, 3}), one}),
               "rank 3: a5.all_forward_all_backward [AllForwardAllBackward]: output 0 is float32 [2, 3, 16], output 1 "
               "is float32 [2, 16, 3]: expected one [B, S, H] per micro-batch"));
}

/// The verdict on these four messages, on 4 ranks.
std::string verdict_on_messages(const CommunicateFunction& communicate) {
  return testing::verdict(
      all_cases(), "Communicate",
      [&](Communicator& comm, const CaseInputs& inputs) { return communicate_trial(comm, inputs, communicate); }, 4);
}

TEST_CASE("wrong: a message that changes what it sends, or is received where the one before it was") {
  CHECK(verdict_on_messages(pipeline_communicate) == "passed");
  CHECK(verdict_on_messages([](PipelineOperation operation, PointToPoint& p2p, const PipelineArguments& arguments,
                               const at::Tensor& tensor) {
          const at::Tensor result = pipeline_communicate(operation, p2p, arguments, tensor);
          if (tensor.defined()) tensor.zero_();  // to have its memory back
          return result;
        }) == "mismatch");
  CHECK(contains(verdict_on_messages([](PipelineOperation operation, PointToPoint& p2p,
                                        const PipelineArguments& arguments, const at::Tensor& tensor) {
                   thread_local at::Tensor buffer;  // of this rank
                   const at::Tensor received = pipeline_communicate(operation, p2p, arguments, tensor);
                   if (!received.defined()) return received;
                   if (!buffer.defined()) buffer = at::empty_like(received);
                   buffer.copy_(received.detach());
                   return buffer.detach().requires_grad_();
                 }),
                 "a5.pipeline_communicate [Communicate]: two receives returned the same memory, expected a new tensor "
                 "each time"));
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

/// A comparison of two tensors by a relative norm.
using Compare = std::function<bool(const at::Tensor& actual, const at::Tensor& expected, double tolerance)>;

/// The verdicts on Q9's trials of this comparison of one micro-batch's output.
TaskCall outputs_compared(const Compare& same) {
  return [same](Communicator&, const CaseInputs& inputs) {
    std::vector<std::int64_t> verdicts;
    for (const OutputsTrial& trial : outputs_trials_of(inputs)) {
      const double tolerance = trial.tolerance.relative_norm;
      bool all = trial.outputs.size() == trial.baseline.size();
      for (std::size_t i = 0; all && i < trial.outputs.size(); ++i)
        all = same(trial.outputs[i], trial.baseline[i], tolerance);
      verdicts.push_back(trial.pp_rank != trial.pp_size - 1 ? -1 : all ? 1 : 0);
    }
    return TensorMap{{"verdicts", at::tensor(verdicts, at::kLong)}};
  };
}

/// The same of all outputs at once.
TaskCall all_outputs_compared(
    const std::function<bool(const std::vector<at::Tensor>&, const std::vector<at::Tensor>&, double tolerance)>& same) {
  return [same](Communicator&, const CaseInputs& inputs) {
    std::vector<std::int64_t> verdicts;
    for (const OutputsTrial& trial : outputs_trials_of(inputs)) {
      const bool all =
          trial.pp_rank == trial.pp_size - 1 && same(trial.outputs, trial.baseline, trial.tolerance.relative_norm);
      verdicts.push_back(trial.pp_rank != trial.pp_size - 1 ? -1 : all ? 1 : 0);
    }
    return TensorMap{{"verdicts", at::tensor(verdicts, at::kLong)}};
  };
}

/// The same for Q10; `same` also gets the weight's name.
TaskCall gradients_compared_by_name(
    const std::function<bool(const std::string&, const at::Tensor&, const at::Tensor&, double tolerance)>& same) {
  return [same](Communicator&, const CaseInputs& inputs) {
    std::vector<std::int64_t> verdicts;
    for (const GradientsTrial& trial : gradients_trials_of(inputs)) {
      if (baseline_lacks_weight(trial)) {
        verdicts.insert(verdicts.end(), trial.gradients.size(), -2);
        continue;
      }
      for (const auto& [name, gradient] : trial.gradients)
        verdicts.push_back(same(name, gradient, trial.baseline.at(name), trial.tolerance.relative_norm) ? 1 : 0);
    }
    return TensorMap{{"verdicts", at::tensor(verdicts, at::kLong)}};
  };
}

TaskCall gradients_compared(const Compare& same) {
  return gradients_compared_by_name([same](const std::string&, const at::Tensor& actual, const at::Tensor& expected,
                                           double tolerance) { return same(actual, expected, tolerance); });
}

/// torch.testing.assert_close of float32.
bool assert_close(const at::Tensor& actual, const at::Tensor& expected, double) {
  return actual.defined() && at::allclose(actual, expected.to(actual.scalar_type()), 1.3e-6, 1e-5);
}

double norm_of(const at::Tensor& tensor) {
  return tensor.norm().item<double>();
}

/// The comparison that the tasks ask for.
bool near(const at::Tensor& actual, const at::Tensor& expected, double tolerance) {
  return actual.defined() && norm_of(expected) > 0 && norm_of(actual - expected) <= tolerance * norm_of(expected);
}

TEST_CASE("right: the comparison that the tasks ask for") {
  CHECK(verdict("CompareOutputs", outputs_compared(near)) == "passed");
  CHECK(verdict("CompareGradients", gradients_compared(near)) == "passed");
}

TEST_CASE("wrong: a comparison with an absolute tolerance") {
  CHECK(verdict("CompareOutputs", outputs_compared(assert_close)) == "mismatch");
  CHECK(verdict("CompareGradients", gradients_compared(assert_close)) == "mismatch");
}

TEST_CASE("wrong: only a figure of each tensor is compared: its norm, its sum, its largest value, or all three") {
  const auto figures = [](const at::Tensor& tensor) {
    return std::vector<double>{norm_of(tensor), tensor.sum().item<double>(), tensor.abs().max().item<double>()};
  };
  const auto by = [&](const std::vector<std::size_t>& which) -> Compare {
    return [=](const at::Tensor& actual, const at::Tensor& expected, double tolerance) {
      if (!actual.defined() || norm_of(expected) == 0) return false;
      const std::vector<double> got = figures(actual), want = figures(expected);
      return std::all_of(which.begin(), which.end(),
                         [&](std::size_t i) { return std::abs(got[i] - want[i]) <= tolerance * norm_of(expected); });
    };
  };
  for (const std::vector<std::size_t>& which : std::vector<std::vector<std::size_t>>{{0}, {1}, {2}, {0, 1, 2}}) {
    CHECK(verdict("CompareOutputs", outputs_compared(by(which))) == "mismatch");
    CHECK(verdict("CompareGradients", gradients_compared(by(which))) == "mismatch");
  }
}

TEST_CASE("wrong: only some micro-batches are compared: the first, or the last") {
  for (const bool first : {true, false}) {
    CHECK(
        verdict("CompareOutputs", all_outputs_compared([&](const std::vector<at::Tensor>& outputs,
                                                           const std::vector<at::Tensor>& baseline, double tolerance) {
                  if (outputs.size() != baseline.size()) return false;
                  return first ? near(outputs.front(), baseline.front(), tolerance)
                               : near(outputs.back(), baseline.back(), tolerance);
                })) == "mismatch");
  }
}

TEST_CASE("a wrong entry of a table is described by what was asked there") {
  const auto reason = [](const std::string& name, const std::string& result, at::IntArrayRef place) {
    const Case test_case = named_cases(all_cases(), name, "").at(0);
    const TaskCall call = [&](Communicator& comm, const CaseInputs&) {
      TensorMap results = test_case.expected({comm.rank(), comm.size(), 42});
      at::Tensor entry = results.at(result);
      for (const std::int64_t index : place) entry = entry[index];
      entry.add_(1);
      return results;
    };
    return testing::judged(test_case, call, 1).reason;
  };
  CHECK(
      contains(reason("CompareOutputs", "verdicts", {2}), "[2] (the last micro-batch off; 1: they match): expected 0"));
  CHECK(contains(reason("CompareGradients", "verdicts", {8}), "(not the last layer's: layer2.fc1; 1: they match)"));
  CHECK(contains(reason("DistributeLayers", "owner", {2, 4, 3}), "(the stage of layer 3 of 5, on 3 stages; -1: none)"));
  CHECK(contains(reason("Arguments", "accepted", {5}),
                 "(12 layers on 4 stages, batches of 16 in micro-batches of 3; 1: they make a pipeline)"));
}

TEST_CASE("wrong: micro-batches that only one side has are left out") {
  CHECK(verdict("CompareOutputs", all_outputs_compared([](const std::vector<at::Tensor>& outputs,
                                                          const std::vector<at::Tensor>& baseline, double tolerance) {
                  for (std::size_t i = 0; i < std::min(outputs.size(), baseline.size()); ++i) {
                    if (!near(outputs[i], baseline[i], tolerance)) return false;
                  }
                  return true;
                })) == "mismatch");
}

TEST_CASE("wrong: one norm of all micro-batches together") {
  CHECK(verdict("CompareOutputs", all_outputs_compared([](const std::vector<at::Tensor>& outputs,
                                                          const std::vector<at::Tensor>& baseline, double tolerance) {
                  return outputs.size() == baseline.size() && near(at::stack(outputs), at::stack(baseline), tolerance);
                })) == "mismatch");
}

TEST_CASE("wrong: the tolerance is not the argument, but float32's, or none at all, or that of each element") {
  const Compare wrong[] = {
      [](const at::Tensor& actual, const at::Tensor& expected, double) { return near(actual, expected, 1e-6); },
      [](const at::Tensor& actual, const at::Tensor& expected, double) {
        return near(actual, expected, tolerance_of(expected.scalar_type()).relative_norm);
      },
      [](const at::Tensor& actual, const at::Tensor& expected, double) { return near(actual, expected, 0); },
      [](const at::Tensor& actual, const at::Tensor& expected, double tolerance) {
        return actual.defined() && norm_of(expected) > 0 && at::allclose(actual, expected, tolerance, 0);
      }};
  for (const Compare& compare : wrong) {
    CHECK(verdict("CompareOutputs", outputs_compared(compare)) == "mismatch");
    CHECK(verdict("CompareGradients", gradients_compared(compare)) == "mismatch");
  }
}

TEST_CASE("wrong: the tolerance is a part of the pipeline's tensor, or of the larger or smaller of both") {
  const auto of_norm = [](double (*pick)(double actual, double expected)) {
    return [pick](const at::Tensor& actual, const at::Tensor& expected, double tolerance) {
      if (!actual.defined() || norm_of(expected) == 0) return false;
      return norm_of(actual - expected) <= tolerance * pick(norm_of(actual), norm_of(expected));
    };
  };
  for (const Compare& compare : {Compare(of_norm([](double actual, double) { return actual; })),
                                 Compare(of_norm([](double a, double b) { return std::max(a, b); })),
                                 Compare(of_norm([](double a, double b) { return std::min(a, b); }))}) {
    CHECK(verdict("CompareOutputs", outputs_compared(compare)) == "mismatch");
    CHECK(verdict("CompareGradients", gradients_compared(compare)) == "mismatch");
  }
}

TEST_CASE("wrong: a difference that is not a number is taken as small") {
  const Compare compare = [](const at::Tensor& actual, const at::Tensor& expected, double tolerance) {
    if (!actual.defined() || norm_of(expected) == 0) return false;
    return !(norm_of(actual - expected) > tolerance * norm_of(expected));
  };
  CHECK(verdict("CompareOutputs", outputs_compared(compare)) == "mismatch");
  CHECK(verdict("CompareGradients", gradients_compared(compare)) == "mismatch");
}

TEST_CASE("wrong: a gradient that never arrived is taken as right") {
  CHECK(verdict("CompareGradients",
                gradients_compared([](const at::Tensor& actual, const at::Tensor& expected, double tolerance) {
                  return !actual.defined() || near(actual, expected, tolerance);
                })) == "mismatch");
}

TEST_CASE("wrong: only the last layer's gradients are compared") {
  CHECK(verdict("CompareGradients", gradients_compared_by_name([](const std::string& name, const at::Tensor& actual,
                                                                  const at::Tensor& expected, double tolerance) {
                  return near(actual, expected, tolerance) || !contains(name, "layer3");
                })) == "mismatch");
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
