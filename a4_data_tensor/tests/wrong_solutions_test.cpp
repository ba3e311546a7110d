#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "a4_data_tensor/calls/calls.h"
#include "a4_data_tensor/cases/cases.h"
#include "a4_data_tensor/column_parallel.h"
#include "a4_data_tensor/data_parallel.h"
#include "a4_data_tensor/parallel_functions.h"
#include "a4_data_tensor/row_parallel.h"
#include "a4_data_tensor/single_step.h"
#include "common/api/autograd_facet.h"
#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"

// Each mistake that the README warns of, as a wrong solution, and the case that catches it.
namespace lab::a4 {
namespace {

using testing::contains;

/// What becomes of the named case with the given call in place of its task's.
std::string verdict(const std::string& case_name, const TaskCall& wrong_call) {
  return testing::verdict(all_cases(), case_name, wrong_call, 4);
}

/// What find_symptom() reports for it.
std::string symptom(const std::string& case_name, const TaskCall& wrong_call) {
  return testing::symptom_of(all_cases(), case_name, wrong_call, 4);
}

/// Why the ranks fail together, with the first rank to blame.
std::string message(const std::string& case_name, const TaskCall& wrong_call, int num_ranks = 4) {
  for (const Case& test_case : all_cases()) {
    if (test_case.name == case_name) return testing::judged(test_case, wrong_call, num_ranks).message();
  }
  return "unknown case";
}

/// The named case without some of its bounds, so that another one shows.
Case changed(const std::string& case_name, const std::function<void(Case&)>& change) {
  for (Case& test_case : all_cases()) {
    if (test_case.name != case_name) continue;
    change(test_case);
    return test_case;
  }
  throw UsageError("no case " + case_name);
}

using Forward = std::function<at::Tensor(const at::Tensor& x, const TensorMap& weights, Collectives&)>;

/// A column-parallel layer with another forward pass.
TaskCall column_call(const Forward& forward) {
  return [forward](Communicator& comm, const CaseInputs& inputs) {
    const bool with_bias = inputs.tensors.count("weight.bias") != 0;
    const FullColumnParallelLinear given(inputs.tensor("weight.W"),
                                         with_bias ? inputs.tensor("weight.bias") : at::Tensor(), comm.collectives());
    const TensorMap weights = {{"W", given.W}, {"bias", given.bias}};
    return layer_results(inputs, "x",
                         {[&](const at::Tensor& x) { return forward(x, weights, comm.collectives()); }, weights});
  };
}

/// The same with a row-parallel layer.
TaskCall row_call(const Forward& forward) {
  return [forward](Communicator& comm, const CaseInputs& inputs) {
    const RowParallelLinear given(inputs.tensor("weight.W"), inputs.tensor("weight.bias"), comm.collectives());
    const TensorMap weights = {{"W", given.W}, {"bias", given.bias}};
    return layer_results(inputs, "x_shard",
                         {[&](const at::Tensor& x) { return forward(x, weights, comm.collectives()); }, weights});
  };
}

/// The same with a pair.
TaskCall pair_call(const Forward& forward) {
  return [forward](Communicator& comm, const CaseInputs& inputs) {
    const ColumnRowPair given(inputs.tensor("weight.W1"), inputs.tensor("weight.W2"), comm.collectives());
    const TensorMap weights = {{"W1", given.W1}, {"W2", given.second.W}};
    return layer_results(inputs, "x",
                         {[&](const at::Tensor& x) { return forward(x, weights, comm.collectives()); }, weights});
  };
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
  CHECK(symptom("Accumulation", [](Communicator&, const CaseInputs& inputs) {
          StepOptions options = step_options(inputs);
          const std::int64_t steps = inputs.integer("accumulation_steps");
          options.learning_rate /= static_cast<double>(steps);
          return TensorMap{{"W", updated_by_rows(options, even_slice(options.global_batch_size, steps, steps - 1))}};
        }) == "cleared_in_loop");
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
  CHECK(symptom("InputGrad", column_call([](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
                  return gather_parallel(at::matmul(x, weights.at("W")), collectives);
                })) == "sum_missing");
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Combine = std::function<at::Tensor(const at::Tensor&, Collectives&)>;

/// A function that autograd sees, with any forward and backward pass.
class AnyFunction : public torch::autograd::Function<AnyFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, Collectives* collectives,
                            const Combine* forward, const Combine* backward) {
    remember(context, collectives);
    context->saved_data["backward"] = reinterpret_cast<std::int64_t>(backward);
    return (*forward)(x, *collectives);
  }
  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    const auto* combine = reinterpret_cast<const Combine*>(context->saved_data["backward"].toInt());
    return {(*combine)(grad_outputs[0], recall<Collectives>(context)), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

TaskCall any_function(const Combine& forward, const Combine& backward) {
  return function_call([forward, backward](const at::Tensor& x, Collectives& collectives) {
    return AnyFunction::apply(x, &collectives, &forward, &backward);
  });
}

at::Tensor identity(const at::Tensor& x, Collectives&) {
  return x.view_as(x);
}

at::Tensor sum_of_copy(const at::Tensor& x, Collectives& collectives) {
  return collectives.all_reduce(x.clone());
}

at::Tensor sum_in_place(const at::Tensor& x, Collectives& collectives) {
  return collectives.all_reduce(x);
}

/// The sum as a reduce-scatter and an all-gather of equal parts.
at::Tensor sum_in_halves(const at::Tensor& x, Collectives& collectives) {
  const std::int64_t rest = (collectives.size() - x.numel() % collectives.size()) % collectives.size();
  const at::Tensor own = collectives.reduce_scatter(at::constant_pad_nd(x.reshape({-1}), {0, rest}));
  return at::cat(collectives.all_gather(own)).narrow(0, 0, x.numel()).view(x.sizes());
}

at::Tensor sum_of_gathered(const at::Tensor& x, Collectives& collectives) {
  return at::stack(collectives.all_gather(x.contiguous())).sum(0);
}

at::Tensor gathered(const at::Tensor& x, Collectives& collectives) {
  return at::cat(collectives.all_gather(x), -1);
}

at::Tensor own_slice(const at::Tensor& x, Collectives& collectives) {
  return x.chunk(collectives.size(), -1)[static_cast<std::size_t>(collectives.rank())].contiguous();
}

/// The whole by a sum, each rank's part with zeros for the others'.
at::Tensor gathered_by_sum(const at::Tensor& x, Collectives& collectives) {
  const std::int64_t before = x.size(-1) * collectives.rank();
  const std::int64_t after = x.size(-1) * (collectives.size() - 1 - collectives.rank());
  return collectives.all_reduce(at::constant_pad_nd(x, {before, after}));
}

TEST_CASE("right: f, the gather and g by other means, on any number of ranks") {
  for (const int num_ranks : {1, 2, 3, 4, 6, 8}) {
    CAPTURE(num_ranks);
    for (const Combine& sum : {Combine(sum_of_copy), Combine(sum_in_halves), Combine(sum_of_gathered)})
      CHECK(testing::verdict(all_cases(), "BroadcastParallel", any_function(identity, sum), num_ranks) == "passed");
    for (const Combine& gather : {Combine(gathered), Combine(gathered_by_sum)})
      CHECK(testing::verdict(all_cases(), "GatherParallel", any_function(gather, own_slice), num_ranks) == "passed");
    for (const Combine& sum : {Combine(sum_of_copy), Combine(sum_in_halves)})
      CHECK(testing::verdict(all_cases(), "ReduceParallel", any_function(sum, identity), num_ranks) == "passed");
  }
}

/// A layer's f and g, summed like this.
at::Tensor entering(const at::Tensor& x, Collectives& collectives, const Combine& sum) {
  static const Combine forward = identity;
  return AnyFunction::apply(x, &collectives, &forward, &sum);
}
at::Tensor leaving(const at::Tensor& x, Collectives& collectives, const Combine& sum) {
  static const Combine backward = identity;
  return AnyFunction::apply(x, &collectives, &sum, &backward);
}

TEST_CASE("right: what f and g cost, where they may, costs no other task its marks") {
  for (const Combine& sum : {Combine(sum_in_halves), Combine(sum_of_gathered)}) {
    const TaskCall column = column_call([&](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
      return gather_parallel(at::matmul(entering(x, collectives, sum), weights.at("W")), collectives);
    });
    const TaskCall pair = pair_call([&](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
      const at::Tensor hidden = at::relu(at::matmul(entering(x, collectives, sum), weights.at("W1")));
      return leaving(at::matmul(hidden, weights.at("W2")), collectives, sum_in_halves);
    });
    for (const int num_ranks : {2, 3, 4, 8}) {
      CAPTURE(num_ranks);
      for (const char* name : {"InputGradOtherSizes", "InputGradWide"})
        CHECK(testing::verdict(all_cases(), name, column, num_ranks) == "passed");
      for (const char* name : {"ColumnRowOtherSizes", "ColumnRowWide"})
        CHECK(testing::verdict(all_cases(), name, pair, num_ranks) == "passed");
    }
  }
}

TEST_CASE("wrong: a function that sends more than it needs, or something else") {
  const auto twice = [](const Combine& sum) {
    return [sum](const at::Tensor& x, Collectives& collectives) {
      for (int i = 0; i < 3; ++i) sum(x, collectives);
      return sum(x, collectives);
    };
  };
  CHECK(contains(verdict("BroadcastParallel", any_function(identity, twice(sum_of_copy))),
                 "bytes sent in all, expected at most "));
  CHECK(contains(verdict("GatherParallel", any_function(twice(gathered), own_slice)),
                 "bytes sent in all, expected at most "));
  CHECK(verdict("ReduceParallel", any_function(twice(sum_of_copy), identity)) ==
        "360 bytes sent in all, expected at most 96");
  CHECK(verdict("BroadcastParallel", any_function(
                                         [](const at::Tensor& x, Collectives& collectives) {
                                           return collectives.broadcast(x.clone(), 0);  // what f is named after
                                         },
                                         sum_of_copy)) == "1 calls of broadcast, expected at most 0");
}

TEST_CASE("wrong: f, the gather or g changes its argument in place") {
  CHECK(symptom("BroadcastParallel", any_function(identity, sum_in_place)) == "argument_changed");
  CHECK(symptom("ReduceParallel", any_function(sum_in_place, identity)) == "argument_changed");
  const auto after = [](const Combine& combine) {
    return [combine](const at::Tensor& x, Collectives& collectives) {
      const at::Tensor result = combine(x, collectives).clone();
      at::Tensor(x).zero_();
      return result;
    };
  };
  CHECK(verdict("GatherParallel", any_function(after(gathered), own_slice)) == "mismatch");
  CHECK(verdict("GatherParallel", any_function(gathered, after(own_slice))) == "mismatch");
  CHECK(verdict("BroadcastParallel", any_function(after(identity), sum_of_copy)) == "mismatch");
}

TEST_CASE("wrong: a layer changes its input or its weight") {
  const auto clobbers = [](const Forward& forward, bool input) {
    return [=](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
      const at::Tensor out = forward(x, weights, collectives);
      const c10::NoGradGuard no_grad;
      at::Tensor changed = (input ? x : weights.begin()->second).detach();
      changed += 1;
      return out;
    };
  };
  const Forward column = [](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
    return gather_parallel(at::matmul(broadcast_parallel(x, collectives).clone(), weights.at("W").clone()),
                           collectives);
  };
  const Forward row = [](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
    return reduce_parallel(at::matmul(x.clone(), weights.at("W").clone()), collectives) + weights.at("bias");
  };
  const Forward pair = [](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
    const at::Tensor hidden =
        at::relu(at::matmul(broadcast_parallel(x, collectives).clone(), weights.at("W1").clone()));
    return reduce_parallel(at::matmul(hidden, weights.at("W2")), collectives);
  };
  CHECK(verdict("InputGrad", column_call(column)) == "passed");
  CHECK(verdict("RowParallel", row_call(row)) == "passed");
  CHECK(verdict("ColumnRow", pair_call(pair)) == "passed");
  for (const bool input : {true, false}) {
    CHECK(verdict("InputGrad", column_call(clobbers(column, input))) == "mismatch");
    CHECK(verdict("RowParallel", row_call(clobbers(row, input))) == "mismatch");
    CHECK(verdict("ColumnRow", pair_call(clobbers(pair, input))) == "mismatch");
  }
}

TEST_CASE("wrong: nothing is returned: the result is named, with its rank and what was expected") {
  const Forward nothing = [](const at::Tensor&, const TensorMap&, Collectives&) { return at::Tensor(); };
  CHECK(contains(message("InputGrad", column_call(nothing)),
                 "rank 0, result 'W.grad' is undefined, expected float32 [64, 8]"));
  CHECK(contains(message("RowParallel", row_call(nothing)),
                 "rank 0, result 'W.grad' is undefined, expected float32 [16, 32]"));
  CHECK(contains(message("ColumnRow", pair_call(nothing)),
                 "rank 0, result 'W1.grad' is undefined, expected float32 [64, 8]"));
  const TaskCall no_function = function_call([](const at::Tensor&, Collectives&) { return at::Tensor(); });
  CHECK(contains(message("BroadcastParallel", no_function),
                 "rank 0, result 'out' is undefined, expected float32 [5, 3]"));
  CHECK(contains(message("GatherParallel", no_function),
                 "rank 0, result 'out' is undefined, expected float32 [2, 3, 16]"));
  CHECK(contains(message("ReduceParallel", no_function), "rank 0, result 'out' is undefined, expected float32 [5, 3]"));
  const TaskCall no_weight = [](Communicator&, const CaseInputs&) { return TensorMap{{"W", at::Tensor()}}; };
  for (const char* name : {"Accumulation", "DataParallel", "FullColumnParallel"})
    CHECK(contains(message(name, no_weight), "rank 0, result 'W' is undefined, expected float32 [64, 32]"));
}

TEST_CASE("wrong: f returns the average, or the own gradient as it is, or nothing arrives at the input") {
  CHECK(symptom("BroadcastParallel", any_function(identity, [](const at::Tensor& grad, Collectives& collectives) {
                  return sum_of_copy(grad, collectives) / collectives.size();
                })) == "divided_by_world_size");
  CHECK(symptom("BroadcastParallel", any_function(identity, identity)) == "own_part_only");
  CHECK(symptom("BroadcastParallel", any_function(identity, [](const at::Tensor&, Collectives&) {
                  return at::Tensor();
                })) == "gradient_missing");
}

TEST_CASE("wrong: the gather's backward pass takes the first slice on every rank, or sums over ranks") {
  CHECK(symptom("GatherParallel", any_function(gathered, [](const at::Tensor& grad, Collectives& collectives) {
                  return grad.chunk(collectives.size(), -1)[0].contiguous();
                })) == "one_rank_everywhere");
  CHECK(verdict("GatherParallel", any_function(gathered, [](const at::Tensor& grad, Collectives& collectives) {
                  return collectives.all_reduce(own_slice(grad, collectives).clone());
                })) == "mismatch");
}

TEST_CASE("wrong: columns are gathered along the batch") {
  CHECK(verdict("GatherParallel", any_function(
                                      [](const at::Tensor& x, Collectives& collectives) {
                                        return at::cat(collectives.all_gather(x), 0).view({2, 3, -1});
                                      },
                                      own_slice)) == "mismatch");
}

TEST_CASE("wrong: row parallel adds the bias on every rank before the sum") {
  CHECK(symptom("RowParallel", row_call([](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
                  return reduce_parallel(at::matmul(x, weights.at("W")) + weights.at("bias"), collectives);
                })) == "bias_times_world_size");
}

TEST_CASE("wrong: every rank does the whole work; right numbers, but nothing is shared") {
  // Then agreed upon.
  const TaskCall whole_step = [](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor updated = single_step(step_options(inputs)).updated_weight;
    return TensorMap{{"W", comm.collectives().all_reduce(updated / comm.size())}};
  };
  CHECK(symptom("DataParallel", whole_step) == "works_for_all");
  CHECK(symptom("FullColumnParallel", whole_step) == "works_for_all");
  const auto own_part = [](const at::Tensor& whole, std::int64_t dim, const Communicator& comm) {
    const Slice slice = even_slice(whole.size(dim), comm.size(), comm.rank());
    return whole.narrow(dim, slice.begin, slice.size).contiguous();
  };
  const auto leaf = [](const CaseInputs& inputs, const std::string& name) {
    return inputs.tensor(name).clone().requires_grad_();
  };
  // Given the whole weights, as no judged rank is.
  const auto symptom_with_all = [](const std::string& name, const TaskCall& call) {
    const Case whole = changed(name, [](Case& one) {
      one.keep_own_part = nullptr;
      one.bounds = nullptr;
    });
    return testing::judged(whole, call, 4).symptom.id;
  };
  CHECK(symptom_with_all("InputGrad", [&](Communicator& comm, const CaseInputs& inputs) {
          const at::Tensor x = leaf(inputs, "input.x"), weight = leaf(inputs, "weight.W");
          const at::Tensor out = at::matmul(x, weight);
          out.backward(inputs.tensor("input.grad_out"));
          return TensorMap{{"out", out.detach()},
                           {"x.grad", x.grad()},
                           {"W.grad", own_part(weight.grad(), 1, comm)},
                           {"x", x.detach()},
                           {"W", own_part(weight.detach(), 1, comm)}};
        }) == "works_for_all");
  CHECK(symptom_with_all("RowParallel", [&](Communicator& comm, const CaseInputs& inputs) {
          const at::Tensor x = inputs.tensor("input.x"), bias = inputs.tensor("weight.bias");
          const at::Tensor weight = inputs.tensor("weight.W"), grad_out = inputs.tensor("input.grad_out");
          return TensorMap{{"out", at::matmul(x, weight) + bias},
                           {"x_shard.grad", own_part(at::matmul(grad_out, weight.t()), 1, comm)},
                           {"W.grad", own_part(at::matmul(x.t(), grad_out), 0, comm)},
                           {"bias.grad", grad_out.sum(0)},
                           {"x_shard", inputs.tensor("input.x_shard")},
                           {"W", own_part(weight, 0, comm)},
                           {"bias", bias}};
        }) == "works_for_all");
  CHECK(symptom_with_all("ColumnRow", [&](Communicator& comm, const CaseInputs& inputs) {
          const at::Tensor x = leaf(inputs, "input.x");
          const at::Tensor first = leaf(inputs, "weight.W1"), second = leaf(inputs, "weight.W2");
          const at::Tensor out = at::matmul(at::relu(at::matmul(x, first)), second);
          out.backward(inputs.tensor("input.grad_out"));
          return TensorMap{{"out", out.detach()},
                           {"x.grad", x.grad()},
                           {"W1.grad", own_part(first.grad(), 1, comm)},
                           {"W2.grad", own_part(second.grad(), 0, comm)},
                           {"x", x.detach()},
                           {"W1", own_part(first.detach(), 1, comm)},
                           {"W2", own_part(second.detach(), 0, comm)}};
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
  CHECK(symptom("ColumnRow", pair_call([](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
                  const at::Tensor own = at::relu(at::matmul(broadcast_parallel(x, collectives), weights.at("W1")));
                  const at::Tensor hidden = broadcast_parallel(gather_parallel(own, collectives), collectives);
                  const Slice columns = even_slice(hidden.size(1), collectives.size(), collectives.rank());
                  return reduce_parallel(at::matmul(hidden.narrow(1, columns.begin, columns.size), weights.at("W2")),
                                         collectives);
                })) == "gathers_everything");
}

/// A step of data parallelism, with another way to make the change of the weight the same on every rank.
TaskCall data_parallel_with(const Combine& mean) {
  return [mean](Communicator& comm, const CaseInputs& inputs) {
    const StepOptions options = step_options(inputs);
    const at::Tensor before = initial_weight(options);
    const Slice rows = even_slice(options.global_batch_size, comm.size(), comm.rank());
    return TensorMap{{"W", before + mean(updated_by_rows(options, rows) - before, comm.collectives())}};
  };
}

at::Tensor mean_by(const Combine& sum, const at::Tensor& own, Collectives& collectives) {
  return sum(own, collectives) / collectives.size();
}

TEST_CASE("right: the mean of the gradients by any sum, divided before or after, and the loss's, too") {
  const std::vector<Combine> means = {
      [](const at::Tensor& own, Collectives& c) { return mean_by(sum_of_copy, own, c); },
      [](const at::Tensor& own, Collectives& c) { return mean_by(sum_in_halves, own, c); },
      [](const at::Tensor& own, Collectives& c) { return mean_by(sum_of_gathered, own, c); },
      [](const at::Tensor& own, Collectives& c) { return sum_of_copy(own / c.size(), c); },
      [](const at::Tensor& own, Collectives& c) {
        c.barrier();
        sum_of_copy(own.sum(), c);
        return mean_by(sum_of_copy, own, c);
      }};
  for (const Combine& mean : means) {
    for (const int num_ranks : {1, 2, 3, 4, 6}) {
      CAPTURE(num_ranks);
      for (const char* name : {"DataParallelOtherSizes", "DataParallelTall"})
        CHECK(testing::verdict(all_cases(), name, data_parallel_with(mean), num_ranks) == "passed");
    }
    CHECK(verdict("DataParallel", data_parallel_with(mean)) == "passed");
  }
}

TEST_CASE("wrong: ranks that add up the gradients in an order of their own, and so drift apart") {
  const TaskCall own_order = data_parallel_with([](const at::Tensor& own, Collectives& collectives) {
    std::vector<at::Tensor> parts = collectives.all_gather(own);
    std::rotate(parts.begin(), parts.begin() + collectives.rank(), parts.end());  // its own first
    at::Tensor sum = parts.front().clone();
    for (std::size_t i = 1; i < parts.size(); ++i) sum += parts[i];
    return sum / collectives.size();
  });
  CHECK(verdict("DataParallel", own_order) == "passed");  // close enough, on each rank
  CHECK(contains(message("DataParallel", own_order), ": expected the same bits on all ranks"));
  const TaskCall other_columns = [](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor right = calls().at("a4.column_parallel")(comm, inputs).at("W");
    return TensorMap{{"W", comm.rank() == 1 ? right * (1 + 1e-7) : right}};  // as if gathered in another dtype
  };
  CHECK(contains(message("FullColumnParallel", other_columns), "rank 1, result 'W', element ["));
  CHECK(contains(message("FullColumnParallel", other_columns), ": expected the same bits on all ranks"));
}

TEST_CASE("wrong: gradients are exchanged by other collectives, or too often, or the batch is") {
  CHECK(verdict("DataParallel", data_parallel_with([](const at::Tensor& own, Collectives& collectives) {
                  std::vector<at::Tensor> parts;
                  for (int rank = 0; rank < collectives.size(); ++rank)
                    parts.push_back(collectives.broadcast(own.clone(), rank));
                  return at::stack(parts).mean(0);
                })) == "4 calls of broadcast, expected at most 0");
  CHECK(contains(verdict("DataParallel", data_parallel_with([](const at::Tensor& own, Collectives& collectives) {
                           for (int i = 0; i < 4; ++i) sum_of_copy(own, collectives);
                           return mean_by(sum_of_copy, own, collectives);
                         })),
                 "bytes sent in all, expected at most "));
  CHECK(contains(verdict("DataParallel",
                         [](Communicator& comm, const CaseInputs& inputs) {
                           // Every rank gets the rows of all others, and computes the whole step.
                           const StepOptions options = step_options(inputs);
                           const Slice rows = even_slice(options.global_batch_size, comm.size(), comm.rank());
                           const auto whole = [&](const at::Tensor& mine) {
                             return at::cat(
                                 comm.collectives().all_gather(mine.narrow(0, rows.begin, rows.size).contiguous()));
                           };
                           const Batch batch = create_batch(options);
                           const at::Tensor x = whole(batch.inputs), weight = initial_weight(options);
                           const at::Tensor error = at::matmul(x, weight) - whole(batch.targets);
                           const double scale = 2.0 / static_cast<double>(error.numel());
                           return TensorMap{{"W", weight - options.learning_rate * scale * at::matmul(x.t(), error)}};
                         }),
                 "bytes sent in all, expected at most "));
}

TEST_CASE("wrong: a step of its own on each rank, with right numbers: nothing is received") {
  const auto alone = [](const std::string& name, int num_ranks) {
    return testing::judged(
               changed(name,
                       [](Case& one) {
                         one.keep_own_part = nullptr;
                         one.work = nullptr;
                       }),
               [](Communicator&, const CaseInputs& inputs) {
                 return TensorMap{{"W", single_step(step_options(inputs)).updated_weight}};
               },
               num_ranks)
        .message();
  };
  for (const char* name : {"DataParallel", "FullColumnParallel"}) {
    CHECK(symptom(name, [](Communicator&, const CaseInputs& inputs) {
            return TensorMap{{"W", single_step(step_options(inputs)).updated_weight}};
          }) == "nothing_received");
  }
  for (const char* name : {"DataParallelOtherSizes", "FullColumnParallelOtherSizes"}) {
    for (const int num_ranks : {2, 3, 4})
      CHECK(contains(alone(name, num_ranks), "0 bytes received in all, expected at least "));
  }
}

/// What the memory bound alone says.
std::string held(const std::string& name, const TaskCall& call, int num_ranks) {
  return testing::judged(changed(name,
                                 [](Case& one) {
                                   one.bounds = nullptr;
                                   one.work = nullptr;
                                   one.same_on_all_ranks = {};
                                 }),
                         call, num_ranks)
      .message();
}

TEST_CASE("wrong: a rank holds the whole weight, gathered or filled up with zeros, or copies of the whole batch") {
  const Forward gathers = [](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
    const at::Tensor own = weights.at("W");
    const at::Tensor whole = at::cat(collectives.all_gather(own.detach()), 1);
    const at::Tensor local = at::matmul(broadcast_parallel(x, collectives), own);
    return gather_parallel(local, collectives) + 0 * whole.sum();
  };
  const Forward fills_columns = [](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
    const at::Tensor own = weights.at("W");
    const std::int64_t width = own.size(1), rank = collectives.rank();
    const at::Tensor whole = at::constant_pad_nd(own, {width * rank, width * (collectives.size() - 1 - rank)});
    return reduce_parallel(at::matmul(broadcast_parallel(x, collectives), whole), collectives);
  };
  const Forward fills_rows = [](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
    const at::Tensor own = weights.at("W");
    const std::int64_t height = own.size(0), rank = collectives.rank();
    const std::int64_t before = height * rank, after = height * (collectives.size() - 1 - rank);
    const at::Tensor whole = at::constant_pad_nd(own, {0, 0, before, after});
    return reduce_parallel(at::matmul(at::constant_pad_nd(x, {before, after}), whole), collectives) +
           weights.at("bias");
  };
  const TaskCall copies_batch = [](Communicator& comm, const CaseInputs& inputs) {
    const Batch batch = create_batch(step_options(inputs));
    const at::Tensor x = batch.inputs.clone(), y = batch.targets.clone();
    return data_parallel_with([](const at::Tensor& own, Collectives& c) { return mean_by(sum_of_copy, own, c); })(
        comm, inputs);
  };
  for (const int num_ranks : {3, 4, 6, 8}) {
    CAPTURE(num_ranks);
    CHECK(contains(held("InputGradWide", column_call(gathers), num_ranks), " of one process's memory ("));
    CHECK(contains(held("InputGradWide", column_call(fills_columns), num_ranks), " of one process's memory ("));
    CHECK(contains(held("RowParallelWide", row_call(fills_rows), num_ranks), " of one process's memory ("));
    CHECK(contains(held("DataParallelTall", copies_batch, num_ranks), " of one process's memory ("));
  }
}

TEST_CASE("wrong: a size of the handout's as a constant") {
  const TaskCall eight_columns =
      column_call([](const at::Tensor& x, const TensorMap& weights, Collectives& collectives) {
        const at::Tensor own = weights.at("W").narrow(1, 0, std::min<std::int64_t>(8, weights.at("W").size(1)));
        return gather_parallel(at::matmul(broadcast_parallel(x, collectives), own), collectives);
      });
  CHECK(verdict("InputGrad", eight_columns) == "passed");
  CHECK(testing::verdict(all_cases(), "InputGradWide", eight_columns, 4) != "passed");
}

}  // namespace
}  // namespace lab::a4
