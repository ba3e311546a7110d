#include "a4_data_tensor/cases/cases.h"

#include "a4_data_tensor/accumulation.h"
#include "a4_data_tensor/column_parallel.h"
#include "a4_data_tensor/data_parallel.h"
#include "a4_data_tensor/parallel_functions.h"
#include "a4_data_tensor/row_parallel.h"
#include "a4_data_tensor/single_step.h"
#include "common/tensor/compare.h"

namespace lab::a4 {
namespace {

at::Tensor leaf(const CaseInputs& inputs, const std::string& name) {
  return inputs.tensor(name).clone().requires_grad_();
}

at::Tensor optional_tensor(const CaseInputs& inputs, const std::string& name) {
  const auto found = inputs.tensors.find(name);
  return found == inputs.tensors.end() ? at::Tensor() : found->second;
}

TensorMap single_step_call(Communicator&, const CaseInputs& inputs) {
  const StepResult result = single_step(step_options(inputs));
  return {{"initial", result.initial_weight}, {"updated", result.updated_weight}};
}

TensorMap accumulation_call(Communicator&, const CaseInputs& inputs) {
  return {{"W", single_step_with_grad_accumulation(step_options(inputs), inputs.integer("accumulation_steps"))}};
}

TensorMap data_parallel_call(Communicator& comm, const CaseInputs& inputs) {
  return {{"W", data_parallel_single_step(step_options(inputs), comm.collectives())}};
}

TensorMap broadcast_call(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor x = leaf(inputs, "input.x");
  const at::Tensor grad_out = inputs.tensor("input.grad_out").clone();
  const at::Tensor out = broadcast_parallel(x, comm.collectives());
  out.backward(grad_out);
  return {{"out", out.detach()}, {"x.grad", x.grad()}, {"grad_out", grad_out}};
}

TensorMap gather_call(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor x = leaf(inputs, "input.x");
  const at::Tensor out = gather_parallel(x, comm.collectives());
  out.backward(inputs.tensor("input.grad_out"));
  return {{"out", out.detach()}, {"x.grad", x.grad()}};
}

TensorMap column_call(Communicator& comm, const CaseInputs& inputs) {
  if (inputs.tensors.count("input.x") == 0) {
    return {{"W", full_column_parallel_single_step(step_options(inputs), comm.collectives())}};
  }
  const at::Tensor x = leaf(inputs, "input.x");
  const FullColumnParallelLinear layer(inputs.tensor("weight.W"), optional_tensor(inputs, "weight.bias"),
                                       comm.collectives());
  const at::Tensor out = layer.forward(x);
  out.backward(inputs.tensor("input.grad_out"));
  TensorMap results = {{"out", out.detach()}, {"x.grad", x.grad()}, {"W.grad", layer.W.grad()}};
  if (layer.bias.defined()) results["bias.grad"] = layer.bias.grad();
  return results;
}

TensorMap row_call(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor x_shard = leaf(inputs, "input.x_shard");
  const RowParallelLinear layer(inputs.tensor("weight.W"), inputs.tensor("weight.bias"), comm.collectives());
  const at::Tensor out = layer.forward(x_shard);
  out.backward(inputs.tensor("input.grad_out"));
  return {{"out", out.detach()},
          {"x_shard.grad", x_shard.grad()},
          {"W.grad", layer.W.grad()},
          {"bias.grad", layer.bias.grad()}};
}

TensorMap pair_call(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor x = leaf(inputs, "input.x");
  const ColumnRowPair pair(inputs.tensor("weight.W1"), inputs.tensor("weight.W2"), comm.collectives());
  const at::Tensor out = pair.forward(x);
  out.backward(inputs.tensor("input.grad_out"));
  return {{"out", out.detach()}, {"x.grad", x.grad()}, {"W1.grad", pair.W1.grad()}, {"W2.grad", pair.second.W.grad()}};
}

constexpr double kMaxDiff = 1e-6;  // of a right step's True lines

constexpr const char* kBaselineText =
    "Compute the updated matrix which should be different from the initial weight matrix.";
constexpr const char* kFurtherText =
    "Beyond the handout: the update by hand, exact data, gradients of the input, bias, row parallel, column and row.";

/// The handout's first comparison: the weight before and after the update, which must differ.
LabStep update_step(const Case& baseline) {
  LabStep step;
  step.cases = {baseline};
  step.run = [baseline](RankRun& run) {
    if (run.comm.rank() != 0) return;
    run.print(kBaselineText);
    const CaseResult result = run_case(baseline, run.calls, run.comm, run.options.seed, run.device);
    run.save(baseline, result);
    const Comparison moved = compare(result.actual.at("initial"), result.actual.at("updated"));
    run.out.match({baseline.prefix, 0, moved.close, moved.max_diff, moved.mean_diff}, log::Expect::kDiffer);
  };
  step.expect = [baseline](log::LogExpectation& log) {
    log.add(0, log::rank_text(kBaselineText));
    // Does not depend on the number of ranks, nor on the BLAS kernel: the figures of the handout's Python code.
    log.add(0, log::ExpectedMatch{baseline.prefix, false, 0, "1.193051e-01", "3.029096e-02"});
  };
  return step;
}

}  // namespace

CallTable calls() {
  return {{"a4.single_step", single_step_call},
          {"a4.accumulation", accumulation_call},
          {"a4.data_parallel", data_parallel_call},
          {"a4.broadcast_parallel", broadcast_call},
          {"a4.gather_parallel", gather_call},
          {"a4.column_parallel", column_call},
          {"a4.row_parallel", row_call},
          {"a4.column_row", pair_call}};
}

std::vector<Case> all_cases(const LabSizes& sizes) {
  std::vector<Case> all = handout_cases(sizes);
  for (const Case& test_case : further_cases(sizes)) all.push_back(test_case);
  return all;
}

std::vector<Case> all_cases() {
  return all_cases(LabSizes());
}

std::vector<LabStep> program_steps(const LabSizes& sizes) {
  const std::vector<Case> handout = handout_cases(sizes);
  Case by_hand = handout[0];
  by_hand.prefix = "SingleStep";
  LabStep update_by_hand = checks({{kFurtherText, {by_hand}}}, kMaxDiff);
  update_by_hand.cases.clear();  // `run Baseline` runs it once
  return {announcement(),
          update_step(handout[0]),
          checks({{"Compute the updated weight using batch accumulation. They should match.", {handout[1]}},
                  {"Compute the updated weight using data parallelism.", {handout[2]}},
                  {"Compute the updated weight using tensor parallelism (FullColumnParallelLinear).", {handout[3]}}},
                 kMaxDiff),
          done(),
          update_by_hand,
          checks({{"", further_cases(sizes)}}, kMaxDiff)};
}

log::LogExpectation expected_log(int num_ranks) {
  return expectation_of(program_steps({}), num_ranks);
}

GradedLab graded_lab() {
  return {all_cases, expected_log};
}

}  // namespace lab::a4
