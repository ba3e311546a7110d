#include "a4_data_tensor/cases/cases.h"
#include "a4_data_tensor/column_parallel.h"
#include "a4_data_tensor/data_parallel.h"
#include "a4_data_tensor/parallel_functions.h"
#include "a4_data_tensor/row_parallel.h"
#include "a4_data_tensor/single_step.h"
#include "common/tensor/batch.h"
#include "common/tensor/partition.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"

// Each mistake that the README warns of, as a wrong solution, and the case that catches it.
namespace lab::a4 {
namespace {

/// What becomes of the named case with the given call in place of its task's.
std::string verdict(const std::string& case_name, const TaskCall& wrong_call) {
  return testing::verdict(all_cases(), case_name, wrong_call, 4);
}

/// What find_symptom() reports for it.
std::string symptom(const std::string& case_name, const TaskCall& wrong_call) {
  return testing::symptom_of(all_cases(), case_name, wrong_call, 4);
}

at::Tensor leaf(const CaseInputs& inputs, const std::string& name) {
  return inputs.tensor(name).clone().requires_grad_();
}

TEST_CASE("wrong: the initial weight is not copied, so it changes with the update") {
  CHECK(verdict("Baseline", [](Communicator&, const CaseInputs& inputs) {
          const StepResult result = single_step(step_options(inputs));
          return TensorMap{{"initial", result.updated_weight}, {"updated", result.updated_weight}};
        }) == "mismatch");
}

TEST_CASE("wrong: gradients are summed over micro-batches without scaling the loss") {
  CHECK(symptom("Accumulation", [](Communicator&, const CaseInputs& inputs) {
          StepOptions options = step_options(inputs);
          options.learning_rate *= static_cast<double>(inputs.integer("accumulation_steps"));
          return TensorMap{{"W", updated_by_hand(options)}};
        }) == "times_count");
}

/// The updated weight computed from these rows of the batch alone.
at::Tensor updated_by_rows(const StepOptions& options, const Slice& rows) {
  const Batch batch = create_batch(options);
  const at::Tensor x = batch.inputs.narrow(0, rows.begin, rows.size);
  const at::Tensor error = at::matmul(x, initial_weight(options)) - batch.targets.narrow(0, rows.begin, rows.size);
  const double scale = 2.0 / static_cast<double>(rows.size * options.output_dim);
  return initial_weight(options) - options.learning_rate * scale * at::matmul(x.t(), error);
}

TEST_CASE("wrong: gradients are cleared inside the accumulation loop, so only the last micro-batch counts") {
  CHECK(verdict("Accumulation", [](Communicator&, const CaseInputs& inputs) {
          const StepOptions options = step_options(inputs);
          const std::int64_t steps = inputs.integer("accumulation_steps");
          return TensorMap{{"W", updated_by_rows(options, even_slice(options.global_batch_size, steps, steps - 1))}};
        }) == "mismatch");
}

TEST_CASE("wrong: every rank takes the first rows") {
  CHECK(symptom("DataParallel", [](Communicator& comm, const CaseInputs& inputs) {
          const StepOptions options = step_options(inputs);
          return TensorMap{{"W", updated_by_rows(options, even_slice(options.global_batch_size, comm.size(), 0))}};
        }) == "first_slice_everywhere");
}

TEST_CASE("wrong: every turn of the accumulation takes the first micro-batch") {
  CHECK(symptom("Accumulation", [](Communicator&, const CaseInputs& inputs) {
          const StepOptions options = step_options(inputs);
          const std::int64_t steps = inputs.integer("accumulation_steps");
          return TensorMap{{"W", updated_by_rows(options, even_slice(options.global_batch_size, steps, 0))}};
        }) == "first_slice_everywhere");
}

TEST_CASE("wrong: the optimizer's step is forgotten") {
  const TaskCall forgets = [](Communicator&, const CaseInputs& inputs) {
    return TensorMap{{"W", initial_weight(step_options(inputs))}};
  };
  for (const char* name : {"Accumulation", "DataParallel", "FullColumnParallel"})
    CHECK(symptom(name, forgets) == "nothing_changed");
  CHECK(symptom("Baseline", [](Communicator&, const CaseInputs& inputs) {
          const at::Tensor weight = initial_weight(step_options(inputs));
          return TensorMap{{"initial", weight}, {"updated", weight}};
        }) == "nothing_changed");
}

TEST_CASE("every mistake of a case is recognised in its own wrong results") {
  for (const int size : {1, 2, 4}) CHECK(testing::unrecognised_mistake(all_cases(), size) == "");
}

TEST_CASE("wrong: gradients are not exchanged, or summed and not averaged") {
  for (const bool exchange : {false, true}) {
    CHECK(symptom("DataParallel", [&](Communicator& comm, const CaseInputs& inputs) {
            const StepOptions options = step_options(inputs);
            const at::Tensor before = initial_weight(options);
            at::Tensor change =
                updated_by_rows(options, even_slice(options.global_batch_size, comm.size(), comm.rank())) - before;
            if (exchange) change = comm.collectives().all_reduce(change);
            return TensorMap{{"W", before + change}};
          }) == (exchange ? "times_world_size" : "average_missing"));
  }
}

TEST_CASE("wrong: the result of f is thrown away, so the input's gradient is only this rank's part") {
  CHECK(symptom("InputGrad", [](Communicator& comm, const CaseInputs& inputs) {
          const at::Tensor x = leaf(inputs, "input.x");
          const FullColumnParallelLinear layer(inputs.tensor("weight.W"), at::Tensor(), comm.collectives());
          const at::Tensor out = gather_parallel(at::matmul(x, layer.W), comm.collectives());
          out.backward(inputs.tensor("input.grad_out"));
          return TensorMap{{"out", out.detach()}, {"x.grad", x.grad()}, {"W.grad", layer.W.grad()}};
        }) == "sum_missing");
}

TEST_CASE("wrong: f changes the incoming gradient in place") {
  CHECK(symptom("BroadcastParallel", [](Communicator& comm, const CaseInputs& inputs) {
          const at::Tensor grad_out = inputs.tensor("input.grad_out").clone();
          comm.collectives().all_reduce(grad_out);
          return TensorMap{{"out", inputs.tensor("input.x")}, {"x.grad", grad_out}, {"grad_out", grad_out}};
        }) == "argument_changed");
}

TEST_CASE("wrong: f returns the average, or the own gradient as it is, or nothing arrives at the input") {
  using Change = std::function<at::Tensor(const at::Tensor& grad_out, Communicator& comm)>;
  const std::pair<const char*, Change> changes[] = {
      {"divided_by_world_size",
       [](const at::Tensor& grad_out, Communicator& comm) {
         return comm.collectives().all_reduce(grad_out.clone()) / comm.size();
       }},
      {"own_part_only", [](const at::Tensor& grad_out, Communicator&) { return grad_out; }},
      {"gradient_missing", [](const at::Tensor&, Communicator&) { return at::Tensor(); }},
  };
  for (const auto& [expected, change] : changes) {
    CHECK(symptom("BroadcastParallel", [&, &gradient = change](Communicator& comm, const CaseInputs& inputs) {
            const at::Tensor grad_out = inputs.tensor("input.grad_out").clone();
            return TensorMap{
                {"out", inputs.tensor("input.x")}, {"x.grad", gradient(grad_out, comm)}, {"grad_out", grad_out}};
          }) == expected);
  }
}

TEST_CASE("wrong: the gather's backward pass takes the first slice on every rank, or sums over ranks") {
  for (const bool sums : {false, true}) {
    CHECK(symptom("GatherParallel", [&](Communicator& comm, const CaseInputs& inputs) {
            const at::Tensor out = at::cat(comm.collectives().all_gather(inputs.tensor("input.x")), -1);
            const std::vector<at::Tensor> slices = inputs.tensor("input.grad_out").chunk(comm.size(), -1);
            const at::Tensor own = slices[static_cast<std::size_t>(comm.rank())].contiguous();
            return TensorMap{{"out", out},
                             {"x.grad", sums ? comm.collectives().all_reduce(own.clone()) : slices[0].contiguous()}};
          }) == (sums ? "" : "one_rank_everywhere"));
  }
}

TEST_CASE("wrong: columns are gathered along the batch") {
  CHECK(verdict("GatherParallel", [](Communicator& comm, const CaseInputs& inputs) {
          const std::vector<at::Tensor> parts = comm.collectives().all_gather(inputs.tensor("input.x"));
          return TensorMap{{"out", at::cat(parts, 0).view({2, 3, -1})}, {"x.grad", inputs.tensor("input.x")}};
        }) == "mismatch");
}

TEST_CASE("wrong: row parallel adds the bias on every rank before the sum") {
  CHECK(symptom("RowParallel", [](Communicator& comm, const CaseInputs& inputs) {
          const at::Tensor x_shard = leaf(inputs, "input.x_shard");
          const RowParallelLinear layer(inputs.tensor("weight.W"), inputs.tensor("weight.bias"), comm.collectives());
          const at::Tensor out = reduce_parallel(at::matmul(x_shard, layer.W) + layer.bias, comm.collectives());
          out.backward(inputs.tensor("input.grad_out"));
          return TensorMap{{"out", out.detach()},
                           {"x_shard.grad", x_shard.grad()},
                           {"W.grad", layer.W.grad()},
                           {"bias.grad", layer.bias.grad()}};
        }) == "bias_times_world_size");
}

TEST_CASE("wrong: every rank does the whole work; right numbers, but nothing is shared") {
  const TaskCall whole_step = [](Communicator&, const CaseInputs& inputs) {
    return TensorMap{{"W", single_step(step_options(inputs)).updated_weight}};
  };
  CHECK(symptom("DataParallel", whole_step) == "works_for_all");
  CHECK(symptom("FullColumnParallel", whole_step) == "works_for_all");
  const auto own_part = [](const at::Tensor& whole, std::int64_t dim, const Communicator& comm) {
    const Slice slice = even_slice(whole.size(dim), comm.size(), comm.rank());
    return whole.narrow(dim, slice.begin, slice.size).contiguous();
  };
  CHECK(symptom("InputGrad", [&](Communicator& comm, const CaseInputs& inputs) {
          const at::Tensor x = leaf(inputs, "input.x"), weight = leaf(inputs, "weight.W");
          const at::Tensor out = at::matmul(x, weight);
          out.backward(inputs.tensor("input.grad_out"));
          return TensorMap{{"out", out.detach()}, {"x.grad", x.grad()}, {"W.grad", own_part(weight.grad(), 1, comm)}};
        }) == "works_for_all");
  CHECK(symptom("RowParallel", [&](Communicator& comm, const CaseInputs& inputs) {
          const at::Tensor x = at::cat(comm.collectives().all_gather(inputs.tensor("input.x_shard")), 1);
          const at::Tensor weight = inputs.tensor("weight.W"), grad_out = inputs.tensor("input.grad_out");
          return TensorMap{{"out", at::matmul(x, weight) + inputs.tensor("weight.bias")},
                           {"x_shard.grad", own_part(at::matmul(grad_out, weight.t()), 1, comm)},
                           {"W.grad", own_part(at::matmul(x.t(), grad_out), 0, comm)},
                           {"bias.grad", grad_out.sum(0)}};
        }) == "works_for_all");
  CHECK(symptom("ColumnRow", [&](Communicator& comm, const CaseInputs& inputs) {
          const at::Tensor x = leaf(inputs, "input.x");
          const at::Tensor first = leaf(inputs, "weight.W1"), second = leaf(inputs, "weight.W2");
          const at::Tensor out = at::matmul(at::relu(at::matmul(x, first)), second);
          out.backward(inputs.tensor("input.grad_out"));
          return TensorMap{{"out", out.detach()},
                           {"x.grad", x.grad()},
                           {"W1.grad", own_part(first.grad(), 1, comm)},
                           {"W2.grad", own_part(second.grad(), 0, comm)}};
        }) == "works_for_all");
}

TEST_CASE("right: other ways to compute a rank's part stay within its work") {
  CHECK(verdict("DataParallel", [](Communicator& comm, const CaseInputs& inputs) {
          const StepOptions options = step_options(inputs);
          const Slice rows = even_slice(options.global_batch_size, comm.size(), comm.rank());
          const at::Tensor own = updated_by_rows(options, rows), weight = initial_weight(options);
          const at::Tensor sum = comm.collectives().all_reduce(own - weight);
          return TensorMap{{"W", weight + sum / comm.size()}};
        }) == "passed");
  CHECK(verdict("FullColumnParallel", [](Communicator& comm, const CaseInputs& inputs) {
          const StepOptions options = step_options(inputs);
          const Slice columns = even_slice(options.output_dim, comm.size(), comm.rank());
          const Batch batch = create_batch(options);
          const at::Tensor weight = initial_weight(options).narrow(1, columns.begin, columns.size);
          const at::Tensor error =
              at::matmul(batch.inputs, weight) - batch.targets.narrow(1, columns.begin, columns.size);
          const double scale = 2.0 / static_cast<double>(options.global_batch_size * options.output_dim);
          const at::Tensor own = weight - options.learning_rate * scale * at::matmul(batch.inputs.t(), error);
          return TensorMap{{"W", at::cat(comm.collectives().all_gather(own.contiguous()), 1)}};
        }) == "passed");
}

TEST_CASE("wrong: the pair gathers the hidden activations; right numbers, but over its budget") {
  CHECK(symptom("ColumnRow", [](Communicator& comm, const CaseInputs& inputs) {
          Collectives& collectives = comm.collectives();
          const at::Tensor x = leaf(inputs, "input.x");
          const FullColumnParallelLinear first(inputs.tensor("weight.W1"), at::Tensor(), collectives);
          const RowParallelLinear second(inputs.tensor("weight.W2"), at::Tensor(), collectives);
          const at::Tensor hidden = at::relu(first.forward(x));
          const Slice columns = even_slice(hidden.size(1), comm.size(), comm.rank());
          const at::Tensor out =
              second.forward(broadcast_parallel(hidden, collectives).narrow(1, columns.begin, columns.size));
          out.backward(inputs.tensor("input.grad_out"));
          return TensorMap{
              {"out", out.detach()}, {"x.grad", x.grad()}, {"W1.grad", first.W.grad()}, {"W2.grad", second.W.grad()}};
        }) == "gathers_everything");
}

}  // namespace
}  // namespace lab::a4
