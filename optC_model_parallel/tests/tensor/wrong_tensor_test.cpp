#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "common/api/autograd_facet.h"
#include "common/api/collectives.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/message_of.h"
#include "common/testing/test.h"
#include "optC_model_parallel/calls/calls.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/parallel_functions.h"
#include "optC_model_parallel/parallel_layers.h"

// Each mistake with f, g, split layers and split blocks that the README warns of, as a wrong solution, and the case that
// catches it.
namespace lab::optc {
namespace {

using testing::contains;

std::string verdict_of(const std::string& name, const TaskCall& call, int num_ranks = 4) {
  return testing::verdict(all_cases(), name, call, num_ranks);
}

bool passes(const std::string& name, const TaskCall& call) {
  return verdict_of(name, call) == "passed";
}

/// The case runs to its end, within its bounds or not, and some number is wrong.
bool differs(const std::string& name, const TaskCall& call) {
  return verdict_of(name, call) == "mismatch";
}

using RegionFunction = at::Tensor (*)(const at::Tensor& x, Collectives& comm);

/// f without its backward pass.
at::Tensor only_identity(const at::Tensor& x, Collectives&) {
  return x.view_as(x);
}

/// A sum that autograd does not see.
at::Tensor sum_without_graph(const at::Tensor& x, Collectives& comm) {
  return comm.all_reduce(x.detach().clone());
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// f whose backward pass sums autograd's own gradient in place.
class InPlaceCopy : public torch::autograd::Function<InPlaceCopy> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, Collectives* comm) {
    remember(context, comm);
    return x.view_as(x);
  }
  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    return {recall<Collectives>(context).all_reduce(grad_outputs[0]), at::Tensor()};
  }
};

/// g that sums x in place.
class InPlaceReduce : public torch::autograd::Function<InPlaceReduce> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& x, Collectives* comm) { return comm->all_reduce(x); }
  static variable_list backward(AutogradContext*, variable_list grad_outputs) {
    return {grad_outputs[0], at::Tensor()};
  }
};

TEST_CASE("right: f, g and the sum within a region as the reference has them") {
  CHECK(passes("CopyToRegion", function_call(copy_to_region)));
  CHECK(passes("ReduceFromRegion", function_call(reduce_from_region)));
  CHECK(passes("ReduceWithinRegion", function_call(reduce_within_region)));
}

TEST_CASE("wrong: f without the sum of gradients") {
  CHECK(differs("CopyToRegion", function_call(only_identity)));
}

TEST_CASE("wrong: f changes the gradient that belongs to autograd") {
  CHECK(differs("CopyToRegion",
                function_call([](const at::Tensor& x, Collectives& comm) { return InPlaceCopy::apply(x, &comm); })));
}

TEST_CASE("wrong: g sums gradients as well, so that they are P times too large") {
  CHECK(differs("ReduceFromRegion", function_call(reduce_within_region)));
}

TEST_CASE("wrong: g changes x") {
  CHECK(differs("ReduceFromRegion",
                function_call([](const at::Tensor& x, Collectives& comm) { return InPlaceReduce::apply(x, &comm); })));
}

TEST_CASE("wrong: g behind autograd's back") {
  CHECK(differs("ReduceFromRegion", function_call(sum_without_graph)));
}

TEST_CASE("wrong: g in the place of the sum within a region, which drops the others' parts of the gradient") {
  CHECK(differs("ReduceWithinRegion", function_call(reduce_from_region)));
}

/// All ranks' x along the last dimension, in rank order, or as `join` has it; its gradient comes back to each.
using Join = at::Tensor (*)(const std::vector<at::Tensor>& parts);

at::Tensor in_rank_order(const std::vector<at::Tensor>& parts) {
  return at::cat(parts, -1);
}

TaskCall column_call(RegionFunction enter, Join join) {
  return sharded_layer_call(
      kWeightAndBias, [=](const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm) {
        const at::Tensor own = at::linear(enter(x, comm), shards[0], shards[1]);
        if (inputs.integer("gather_output") == 0) return own;
        std::vector<at::Tensor> parts = comm.all_gather(own.detach());
        parts[static_cast<std::size_t>(comm.rank())] = own;  // whose gradient is then its part
        return join(parts);
      });
}

TEST_CASE("right: a column-parallel layer that gathers by other means") {
  for (const char* name : {"ColumnLinear", "ColumnLinearGradient", "ColumnLinearGathered"})
    CHECK(passes(name, column_call(copy_to_region, in_rank_order)));
  CHECK(passes("ColumnLinearGatheredGradient", column_call(copy_to_region, in_rank_order)));
}

TEST_CASE("wrong: a column-parallel layer without f; outputs are right") {
  CHECK(passes("ColumnLinearGathered", column_call(only_identity, in_rank_order)));
  CHECK(differs("ColumnLinearGradient", column_call(only_identity, in_rank_order)));
  CHECK(differs("ColumnLinearGatheredGradient", column_call(only_identity, in_rank_order)));
}

TEST_CASE("wrong: the neurons of all ranks joined in another order") {
  CHECK(differs("ColumnLinearGathered", column_call(copy_to_region, [](const std::vector<at::Tensor>& parts) {
                  return at::stack(parts, -1).flatten(-2);  // the first of each rank, then the second ...
                })));
  CHECK(differs(
      "ColumnLinearGathered", column_call(copy_to_region, [](const std::vector<at::Tensor>& parts) {
        return at::cat({parts.back(), at::cat(std::vector<at::Tensor>(parts.begin(), parts.end() - 1), -1)}, -1);
      })));
  CHECK(contains(
      verdict_of("ColumnLinearGathered",
                 column_call(copy_to_region, [](const std::vector<at::Tensor>& parts) { return at::cat(parts, 0); })),
      "[2, 3, 5, 24]"));
}

TEST_CASE("wrong: gathered without gather_output") {
  const TaskCall call = sharded_layer_call(
      kWeightAndBias, [](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
        const at::Tensor all = column_parallel_linear(x, shards[0], shards[1], true, comm);
        return all.chunk(comm.size(), -1)[static_cast<std::size_t>(comm.rank())];
      });
  CHECK(verdict_of("ColumnLinear", call) == "1 calls of all_gather, expected at most 0");
}

TaskCall row_call(const ShardedForward& forward) {
  return sharded_layer_call(kWeightAndBias, forward);
}

TEST_CASE("wrong: the bias of a row-parallel layer on every rank, so that it counts P times") {
  CHECK(differs("RowLinear",
                row_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
                  return reduce_from_region(at::linear(x, shards[0], shards[1]), comm);
                })));
}

TEST_CASE("wrong: the bias forgotten") {
  CHECK(differs("RowLinear",
                row_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
                  return reduce_from_region(at::linear(x, shards[0]), comm) + 0 * shards[1];
                })));
}

TEST_CASE("wrong: a P-th of the bias on every rank; outputs are right, its gradient a P-th") {
  const TaskCall call = row_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    return reduce_from_region(at::linear(x, shards[0], shards[1] / comm.size()), comm);
  });
  CHECK(passes("RowLinear", call));
  CHECK(differs("RowLinearGradient", call));
}

TEST_CASE("wrong: the bias on rank 0 only; outputs are right, the other ranks' copies drift away") {
  const TaskCall call = row_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    return reduce_from_region(at::linear(x, shards[0], comm.rank() == 0 ? shards[1] : 0 * shards[1]), comm);
  });
  CHECK(passes("RowLinear", call));
  CHECK(differs("RowLinearGradient", call));
}

TEST_CASE("wrong: a row-parallel layer whose g sums both ways") {
  const TaskCall call = row_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    return reduce_within_region(at::linear(x, shards[0]), comm) + shards[1];
  });
  CHECK(passes("RowLinear", call));
  CHECK(differs("RowLinearGradient", call));
}

TEST_CASE("wrong: a row-parallel layer that gathers terms and adds them up; numbers are right") {
  const TaskCall call = row_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    return at::stack(comm.all_gather(at::linear(x, shards[0]))).sum(0) + shards[1];
  });
  CHECK(verdict_of("RowLinear", call) == "0 bytes received of all_reduce, expected at least 240");
}

TaskCall mlp_call(const ShardedForward& forward) {
  return sharded_layer_call(kMlpTensors, forward);
}

TEST_CASE("wrong: a pair without f; outputs are right") {
  const TaskCall call = mlp_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    return row_parallel_linear(at::relu(at::linear(x, shards[0], shards[1])), shards[2], shards[3], comm);
  });
  CHECK(passes("ParallelMlp", call));
  CHECK(passes("ColumnRow", call));
  CHECK(differs("ParallelMlpGradient", call));
  CHECK(differs("ColumnRowGradient", call));
}

TEST_CASE("wrong: hidden features gathered and cut again; numbers are right") {
  const TaskCall call = mlp_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    const at::Tensor hidden = at::relu(column_parallel_linear(x, shards[0], shards[1], true, comm));
    const at::Tensor own = hidden.chunk(comm.size(), -1)[static_cast<std::size_t>(comm.rank())];
    return row_parallel_linear(own, shards[2], shards[3], comm);
  });
  CHECK(passes("ParallelMlp", call));
  CHECK(verdict_of("ColumnRow", call) == "1 calls of all_gather, expected at most 0");
}

TEST_CASE("wrong: a second all-reduce in the pair") {
  const TaskCall call = mlp_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    // As if the ranks had to agree on x first.
    const at::Tensor agreed = reduce_from_region(x / comm.size(), comm);
    return parallel_mlp(agreed, shards, comm);
  });
  CHECK(passes("ParallelMlp", call));
  CHECK(verdict_of("ColumnRow", call) == "2 calls of all_reduce, expected at most 1");
}

TEST_CASE("wrong: f and g twice as large as need be, of what is joined with zeros") {
  const TaskCall call = mlp_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    const at::Tensor hidden = at::relu(column_parallel_linear(x, shards[0], shards[1], false, comm));
    const at::Tensor term = at::linear(hidden, shards[2]);
    return reduce_from_region(at::cat({term, at::zeros_like(term)}, -1), comm).narrow(-1, 0, term.size(-1)) + shards[3];
  });
  CHECK(passes("ParallelMlp", call));
  CHECK(verdict_of("ColumnRow", call) == "1440 bytes sent of all_reduce, expected at most 720");
}

TEST_CASE("wrong: relu after the sum instead of before it, or none") {
  for (const bool after : {true, false}) {
    CHECK(differs("ParallelMlp",
                  mlp_call([=](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
                    const at::Tensor hidden = column_parallel_linear(x, shards[0], shards[1], false, comm);
                    const at::Tensor out = row_parallel_linear(hidden, shards[2], shards[3], comm);
                    return after ? at::relu(out) : out;
                  })));
  }
}

/// A LayerNorm whose weight and bias are right.
TaskCall norm_call(const std::function<at::Tensor(const at::Tensor& x, Collectives& comm)>& normalize) {
  return sharded_layer_call(kWeightAndBias,
                            [=](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
                              return normalize(x, comm) * shards[0] + shards[1];
                            });
}

at::Tensor mean_of_all(const at::Tensor& x, Collectives& comm, RegionFunction sum = reduce_within_region) {
  return sum(x.mean(-1, true), comm) / comm.size();
}

at::Tensor normalized_by(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& variance,
                         double epsilon = kNormEpsilon) {
  return (x - mean) * (variance + epsilon).rsqrt();
}

TEST_CASE("right: the mean of the ranks' means, as all have as many features") {
  const TaskCall call = norm_call([](const at::Tensor& x, Collectives& comm) {
    const at::Tensor mean = mean_of_all(x, comm);
    return normalized_by(x, mean, mean_of_all((x - mean).square(), comm));
  });
  for (const char* name : {"LayerNorm", "LayerNormLargeMean", "LayerNormGradient"}) CHECK(passes(name, call));
}

TEST_CASE("wrong: a LayerNorm of each rank's own features") {
  CHECK(differs("LayerNorm", norm_call([](const at::Tensor& x, Collectives&) {
                  return normalized_by(x, x.mean(-1, true), x.var(-1, false, true));
                })));
}

TEST_CASE("wrong: the ranks' variances averaged, without how their means differ") {
  CHECK(differs("LayerNorm", norm_call([](const at::Tensor& x, Collectives& comm) {
                  return normalized_by(x, mean_of_all(x, comm),
                                       reduce_within_region(x.var(-1, false, true), comm) / comm.size());
                })));
}

TEST_CASE("wrong: E[x^2] - E[x]^2; a small mean hides it") {
  const TaskCall call = norm_call([](const at::Tensor& x, Collectives& comm) {
    const at::Tensor mean = mean_of_all(x, comm);
    return normalized_by(x, mean, mean_of_all(x.square(), comm) - mean.square());
  });
  CHECK(passes("LayerNorm", call));
  CHECK(differs("LayerNormLargeMean", call));
}

TEST_CASE("wrong: the sum of squares over n - 1, another epsilon") {
  const auto norm_with = [](double factor, double epsilon) {
    return norm_call([=](const at::Tensor& x, Collectives& comm) {
      const at::Tensor mean = mean_of_all(x, comm);
      return normalized_by(x, mean, mean_of_all((x - mean).square(), comm) * factor, epsilon);
    });
  };
  CHECK(passes("LayerNorm", norm_with(1, kNormEpsilon)));
  CHECK(differs("LayerNorm", norm_with(24.0 / 23, kNormEpsilon)));
  CHECK(differs("LayerNorm", norm_with(1, 1e-6)));
}

TEST_CASE("wrong: statistics taken for constants, or only the own part of their gradient; outputs are right") {
  const auto norm_by = [](RegionFunction sum) {
    return norm_call([=](const at::Tensor& x, Collectives& comm) {
      const at::Tensor mean = mean_of_all(x, comm, sum);
      return normalized_by(x, mean, mean_of_all((x - mean).square(), comm, sum));
    });
  };
  for (const RegionFunction sum : {sum_without_graph, reduce_from_region}) {
    CHECK(passes("LayerNorm", norm_by(sum)));
    CHECK(differs("LayerNormGradient", norm_by(sum)));
  }
}

TEST_CASE("wrong: all features gathered for their statistics") {
  const TaskCall call = norm_call([](const at::Tensor& x, Collectives& comm) {
    const at::Tensor all = at::cat(comm.all_gather(x.contiguous()), -1);
    return normalized_by(x, all.mean(-1, true), all.var(-1, false, true));
  });
  CHECK(verdict_of("LayerNorm", call) == "1 calls of all_gather, expected at most 0");
}

TEST_CASE("wrong: the pair's hidden features gathered, so that every rank normalises all of them; numbers are right") {
  const TaskCall call = sharded_layer_call(
      kNormMlpTensors, [](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
        const auto gathered = [&](const at::Tensor& own) { return at::cat(comm.all_gather(own.contiguous()), -1); };
        const at::Tensor all = gathered(column_parallel_linear(x, shards[0], shards[1], false, comm));
        const at::Tensor normal =
            at::layer_norm(all, {all.size(-1)}, gathered(shards[2]), gathered(shards[3]), kNormEpsilon);
        const at::Tensor own = normal.chunk(comm.size(), -1)[static_cast<std::size_t>(comm.rank())];
        return row_parallel_linear(at::relu(own), shards[4], shards[5], comm);
      });
  CHECK(passes("ParallelNormMlp", call));
  CHECK(verdict_of("ColumnRowNorm", call) == "3 calls of all_gather, expected at most 0");
}

TEST_CASE("wrong: the pair's norm of each rank's own features, or after relu") {
  const auto norm_mlp_call = [](bool of_own, bool relu_first) {
    return sharded_layer_call(
        kNormMlpTensors, [=](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
          at::Tensor hidden = column_parallel_linear(x, shards[0], shards[1], false, comm);
          if (relu_first) hidden = at::relu(hidden);
          hidden = of_own ? at::layer_norm(hidden, {hidden.size(-1)}, shards[2], shards[3], kNormEpsilon)
                          : parallel_layer_norm(hidden, shards[2], shards[3], comm);
          if (!relu_first) hidden = at::relu(hidden);
          return row_parallel_linear(hidden, shards[4], shards[5], comm);
        });
  };
  CHECK(passes("ParallelNormMlpGradient", norm_mlp_call(false, false)));
  CHECK(differs("ParallelNormMlp", norm_mlp_call(true, false)));
  CHECK(differs("ParallelNormMlp", norm_mlp_call(false, true)));
}

/// Why the ranks fail together, with the first rank to blame.
std::string message_of_case(const std::string& name, const TaskCall& call, int num_ranks = 4,
                            const std::function<void(Case&)>& change = {}) {
  for (Case& test_case : all_cases()) {
    if (test_case.name != name) continue;
    if (change) change(test_case);
    return testing::judged(test_case, call, num_ranks).message();
  }
  return "unknown case";
}

void without_costs(Case& test_case) {
  test_case.bounds = nullptr;
  test_case.work = nullptr;
}

TEST_CASE("wrong: float64 whatever comes; cases in float64 do not show it") {
  const TaskCall sums_in_float64 =
      function_call([](const at::Tensor& x, Collectives& comm) { return reduce_from_region(x.to(at::kDouble), comm); });
  CHECK(passes("ReduceFromRegion", sums_in_float64));
  for (const std::string dtype : {"Float32", "Bfloat16"})
    CHECK(contains(verdict_of("ReduceFromRegion" + dtype, sums_in_float64), "float64"));
  const TaskCall row = row_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    const at::Tensor sum = at::zeros({x.size(0), x.size(1), x.size(2), shards[0].size(0)}, at::kDouble);
    return sum + row_parallel_linear(x, shards[0], shards[1], comm);
  });
  CHECK(passes("RowLinearGradient", row));
  CHECK(contains(verdict_of("RowLinearFloat32", row), "float64 [2, 3, 5, 4]"));
  const TaskCall norm = norm_call([](const at::Tensor& x, Collectives& comm) {
    const at::Tensor exact = x.to(at::kDouble), mean = mean_of_all(exact, comm);
    return normalized_by(exact, mean, mean_of_all((exact - mean).square(), comm));
  });
  CHECK(passes("LayerNormGradient", norm));
  CHECK(contains(verdict_of("LayerNormFloat32", norm), "float64 [5, 6]"));
}

TEST_CASE("wrong: float32 on the way; right numbers in float32 only") {
  const TaskCall sums_in_float32 = function_call([](const at::Tensor& x, Collectives& comm) {
    return reduce_from_region(x.to(at::kFloat), comm).to(x.scalar_type());
  });
  CHECK(passes("ReduceFromRegionFloat32", sums_in_float32));
  CHECK(contains(verdict_of("ReduceFromRegion", sums_in_float32), "bytes received of all_reduce, expected at least"));
}

/// A layer, and then a change of its input or of its first tensor.
TaskCall clobbering(const std::vector<std::string>& names, const ShardedForward& forward, bool input) {
  return sharded_layer_call(
      names, [=](const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm) {
        Tensors copies;
        for (const at::Tensor& shard : shards) copies.push_back(shard.clone());
        const at::Tensor out = forward(x.clone(), copies, inputs, comm);
        const c10::NoGradGuard no_grad;
        at::Tensor changed = (input ? x : shards.front()).detach();
        changed += 1;
        return out;
      });
}

TEST_CASE("wrong: a layer changes its input, or a weight; numbers are right") {
  const ShardedForward column = [](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    return column_parallel_linear(x, shards[0], shards[1], false, comm);
  };
  const ShardedForward row = [](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    return row_parallel_linear(x, shards[0], shards[1], comm);
  };
  const ShardedForward mlp = [](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    return parallel_mlp(x, shards, comm);
  };
  const ShardedForward norm = [](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    return parallel_layer_norm(x, shards[0], shards[1], comm);
  };
  for (const bool input : {true, false}) {
    CHECK(differs("ColumnLinear", clobbering(kWeightAndBias, column, input)));
    CHECK(differs("ColumnLinearGradient", clobbering(kWeightAndBias, column, input)));
    CHECK(differs("RowLinearGradient", clobbering(kWeightAndBias, row, input)));
    CHECK(differs("LayerNormGradient", clobbering(kWeightAndBias, norm, input)));
    CHECK(differs("ParallelMlp", clobbering(kMlpTensors, mlp, input)));
    CHECK(differs("ColumnRowGradient", clobbering(kMlpTensors, mlp, input)));
  }
}

TEST_CASE("wrong: the sum over ranks made in x itself: only the input shows it") {
  const TaskCall call = norm_call([](const at::Tensor& x, Collectives& comm) {
    const at::Tensor mean = comm.all_reduce(x.sum(-1, true)) / (x.size(-1) * comm.size());
    at::Tensor centred = x.detach();
    centred -= mean;
    return centred * (mean_of_all(centred.square(), comm) + kNormEpsilon).rsqrt();
  });
  CHECK(differs("LayerNorm", call));
}

TEST_CASE("wrong: nothing is returned: the result is named, with its rank and what was expected") {
  const TaskCall function = function_call([](const at::Tensor&, Collectives&) { return at::Tensor(); });
  CHECK(contains(message_of_case("CopyToRegion", function),
                 "rank 0, result 'out' is undefined, expected float64 [2, 3, 5]"));
  const ShardedForward nothing = [](const at::Tensor&, const Tensors&, const CaseInputs&, Collectives&) {
    return at::Tensor();
  };
  CHECK(contains(message_of_case("ColumnLinear", sharded_layer_call(kWeightAndBias, nothing)),
                 "rank 0, result 'out' is undefined, expected float64 [5, 6]"));
  CHECK(contains(message_of_case("ParallelMlp", sharded_layer_call(kMlpTensors, nothing)),
                 "rank 0, result 'out' is undefined, expected float64 [3, 5, 4]"));
  CHECK(contains(message_of_case("ParallelMlpGradient", sharded_layer_call(kMlpTensors, nothing)),
                 " is undefined, expected float64 ["));
  CHECK(contains(message_of_case("ParallelAttention", sharded_layer_call(kAttentionTensors, nothing)),
                 "rank 0, result 'out' is undefined, expected float64 [3, 5, 24]"));
}

TEST_CASE("wrong: ranks whose copies of what is whole differ in their last digits") {
  const auto drifting = [](Collectives& comm, const at::Tensor& out) { return out * (1 + 1e-14 * comm.rank()); };
  const TaskCall row = row_call([&](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    return drifting(comm, row_parallel_linear(x, shards[0], shards[1], comm));
  });
  CHECK(passes("RowLinear", row));
  CHECK(contains(message_of_case("RowLinear", row), ": expected the same bits on all ranks"));
  // Sums of what was gathered, each rank's own term first.
  const TaskCall own_first =
      mlp_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
        const at::Tensor hidden = at::relu(column_parallel_linear(x, shards[0], shards[1], false, comm));
        std::vector<at::Tensor> terms = comm.all_gather(at::linear(hidden, shards[2]));
        std::rotate(terms.begin(), terms.begin() + comm.rank(), terms.end());
        at::Tensor sum = terms.front().clone();
        for (std::size_t i = 1; i < terms.size(); ++i) sum += terms[i];
        return sum + shards[3];
      });
  CHECK(passes("ParallelMlp", own_first));
  CHECK(contains(message_of_case("ParallelMlp", own_first), "result 'out', element ["));
  CHECK(contains(message_of_case("ParallelMlp", own_first), ": expected the same bits on all ranks"));
}

TEST_CASE("wrong: the pair sends more than any textbook way does, or by other means") {
  const auto with = [](const std::function<void(const at::Tensor& x, Collectives& comm)>& besides) {
    return mlp_call([=](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
      besides(x, comm);
      return parallel_mlp(x, shards, comm);
    });
  };
  CHECK(verdict_of("ParallelMlp", with([](const at::Tensor& x, Collectives& comm) {
                     comm.broadcast(x.detach().clone(), 0);  // as if the ranks did not have it
                   })) == "1 calls of broadcast, expected at most 0");
  CHECK(contains(verdict_of("ParallelMlp", with([](const at::Tensor& x, Collectives& comm) {
                              for (int i = 0; i < 20; ++i) comm.all_reduce(x.detach().clone());
                            })),
                 "bytes sent in all, expected at most "));
}

TEST_CASE("wrong: a rank holds the whole weight: gathered, or its shard filled up with zeros") {
  const TaskCall gathers = sharded_layer_call(
      kWeightAndBias, [](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
        const at::Tensor whole = at::cat(comm.all_gather(shards[0].detach().contiguous()));
        return column_parallel_linear(x, shards[0], shards[1], false, comm) + 0 * whole.sum();
      });
  const TaskCall fills = row_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
    const std::int64_t width = shards[0].size(1), before = width * comm.rank();
    const std::int64_t after = width * (comm.size() - 1 - comm.rank());
    const auto filled = [&](const at::Tensor& own) { return at::constant_pad_nd(own, {before, after}); };
    return row_parallel_linear(filled(x), filled(shards[0]), shards[1], comm);
  });
  for (const int num_ranks : {3, 4, 6, 8}) {
    CAPTURE(num_ranks);
    CHECK(
        contains(message_of_case("ColumnLinearWide", gathers, num_ranks, without_costs), " of one process's memory ("));
    CHECK(contains(message_of_case("RowLinearWide", fills, num_ranks, without_costs), " of one process's memory ("));
  }
}

/// Attention with switches for the usual mistakes.
struct AttentionVariant {
  enum class Enter { kOnce, kForEach, kNever } enter = Enter::kOnce;
  enum class Heads { kRows, kInterleaved, kOne } heads = Heads::kRows;
  double scale = 1;  ///< on top of 1 / sqrt(head_dim)
  bool softmax_over_queries = false;

  at::Tensor split(const at::Tensor& features, std::int64_t head_dim) const {
    const std::int64_t batch = features.size(0), tokens = features.size(1);
    if (heads == Heads::kOne) return features.unsqueeze(1);
    if (heads == Heads::kInterleaved) return features.view({batch, tokens, head_dim, -1}).permute({0, 3, 1, 2});
    return features.view({batch, tokens, -1, head_dim}).transpose(1, 2);
  }

  at::Tensor forward(const at::Tensor& x, const Tensors& shards, std::int64_t head_dim, Collectives& comm) const {
    const at::Tensor once = enter == Enter::kOnce ? copy_to_region(x, comm) : x;
    const auto heads_of = [&](std::size_t which) {
      const at::Tensor in = enter == Enter::kForEach ? copy_to_region(x, comm) : once;
      return split(at::linear(in, shards[which], shards[which + 3]), head_dim);
    };
    const at::Tensor q = heads_of(0), k = heads_of(1), v = heads_of(2);
    const at::Tensor scores = at::matmul(q, k.transpose(-1, -2)) * (scale / std::sqrt(static_cast<double>(head_dim)));
    const at::Tensor found = at::matmul(scores.softmax(softmax_over_queries ? -2 : -1), v);
    // However the heads were split, they are joined in rows.
    return row_parallel_linear(found.transpose(1, 2).flatten(2), shards[6], shards[7], comm);
  }
};

TaskCall attention_call(const AttentionVariant& variant) {
  return sharded_layer_call(
      kAttentionTensors, [=](const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm) {
        return variant.forward(x, shards, inputs.integer("head_dim"), comm);
      });
}

TEST_CASE("right: attention as the reference has it") {
  CHECK(passes("ParallelAttentionGradient", attention_call({})));
}

TEST_CASE("wrong: attention scaled by the width, the rank's part of it, or not at all") {
  for (const double dim : {24.0, 6.0, 1.0}) {
    AttentionVariant variant;
    variant.scale = std::sqrt(3.0 / dim);
    CHECK(differs("ParallelAttention", attention_call(variant)));
  }
}

TEST_CASE("wrong: heads of every second feature; one head of all the rank's features") {
  AttentionVariant variant;
  variant.heads = AttentionVariant::Heads::kInterleaved;
  CHECK(differs("ParallelAttention", attention_call(variant)));
  variant.heads = AttentionVariant::Heads::kOne;
  CHECK(differs("ParallelAttention", attention_call(variant)));
}

TEST_CASE("wrong: softmax over the queries") {
  AttentionVariant variant;
  variant.softmax_over_queries = true;
  CHECK(differs("ParallelAttention", attention_call(variant)));
}

TEST_CASE("wrong: x enters three times; numbers are right") {
  AttentionVariant variant;
  variant.enter = AttentionVariant::Enter::kForEach;
  CHECK(passes("ParallelAttention", attention_call(variant)));
  CHECK(verdict_of("ParallelAttentionGradient", attention_call(variant)) ==
        "4 calls of all_reduce, expected at most 2");
}

TEST_CASE("wrong: x never enters; outputs are right") {
  AttentionVariant variant;
  variant.enter = AttentionVariant::Enter::kNever;
  CHECK(passes("ParallelAttention", attention_call(variant)));
  CHECK(differs("ParallelAttentionGradient", attention_call(variant)));
}

/// A residual block with switches for the usual mistakes.
struct ResidualVariant {
  bool through_f = true;
  enum class Bias { kOnce, kOnEveryRank, kNever } bias = Bias::kOnce;
  enum class Norm { kOwnChannels, kSummed, kCopiedStatistics, kAlwaysTraining } norm = Norm::kOwnChannels;
  double momentum = kBatchNormMomentum;

  at::Tensor forward(const at::Tensor& x, const Tensors& shards, Mode mode, Collectives& comm) const {
    const at::Tensor in = through_f ? copy_to_region(x, comm) : x;
    const at::Tensor middle = at::conv2d(in, shards[0], {}, 1, 1);
    const bool training = mode == Mode::kTraining || norm == Norm::kAlwaysTraining;
    const bool copied = norm == Norm::kCopiedStatistics;
    at::Tensor normal = at::batch_norm(middle, shards[1], shards[2], copied ? shards[3].clone() : shards[3],
                                       copied ? shards[4].clone() : shards[4], training, momentum, kNormEpsilon, false);
    if (norm == Norm::kSummed) {  // channels are not shared: there is nothing to sum up
      const at::Tensor mean = reduce_within_region(middle.mean({0, 2, 3}, true), comm) / comm.size();
      const at::Tensor variance =
          reduce_within_region((middle - mean).square().mean({0, 2, 3}, true), comm) / comm.size();
      normal =
          (middle - mean) * (variance + kNormEpsilon).rsqrt() * shards[1].view({-1, 1, 1}) + shards[2].view({-1, 1, 1});
    }
    const at::Tensor own_bias = bias == Bias::kOnEveryRank ? shards[6] : at::Tensor();
    const at::Tensor out = reduce_from_region(at::conv2d(at::relu(normal), shards[5], own_bias, 1, 1), comm);
    return bias == Bias::kOnce ? out + shards[6].view({-1, 1, 1}) : out;
  }
};

TaskCall residual_call(const ResidualVariant& variant) {
  return sharded_layer_call(
      kResidualTensors, [=](const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm) {
        return variant.forward(x, shards, inputs.integer("training") != 0 ? Mode::kTraining : Mode::kEvaluation, comm);
      });
}

TEST_CASE("right: a residual block as the reference has it") {
  for (const char* name : {"ParallelResidualGradient", "ParallelResidualEvaluationGradient"})
    CHECK(passes(name, residual_call({})));
}

TEST_CASE("wrong: a residual block whose bias counts P times, or never") {
  for (const auto bias : {ResidualVariant::Bias::kOnEveryRank, ResidualVariant::Bias::kNever}) {
    ResidualVariant variant;
    variant.bias = bias;
    CHECK(differs("ParallelResidual", residual_call(variant)));
  }
}

TEST_CASE("wrong: BatchNorm's statistics summed over ranks, though each has its own channels") {
  ResidualVariant variant;
  variant.norm = ResidualVariant::Norm::kSummed;
  CHECK(differs("ParallelResidual", residual_call(variant)));
  CHECK(verdict_of("ParallelResidual", residual_call(variant), 1) == "3 calls of all_reduce, expected at most 1");
}

TEST_CASE("wrong: running statistics that never change, or by another momentum; outputs are right") {
  ResidualVariant variant;
  variant.norm = ResidualVariant::Norm::kCopiedStatistics;
  CHECK(differs("ParallelResidual", residual_call(variant)));
  CHECK(passes("ParallelResidualEvaluation", residual_call(variant)));
  variant = ResidualVariant();
  variant.momentum = 0.9;
  CHECK(differs("ParallelResidual", residual_call(variant)));
}

TEST_CASE("wrong: the batch's statistics in evaluation, too") {
  ResidualVariant variant;
  variant.norm = ResidualVariant::Norm::kAlwaysTraining;
  CHECK(passes("ParallelResidual", residual_call(variant)));
  CHECK(differs("ParallelResidualEvaluation", residual_call(variant)));
}

TEST_CASE("wrong: a residual block without f; outputs are right") {
  ResidualVariant variant;
  variant.through_f = false;
  CHECK(passes("ParallelResidual", residual_call(variant)));
  CHECK(differs("ParallelResidualGradient", residual_call(variant)));
}

}  // namespace
}  // namespace lab::optc
