#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/sharded_layer.h"
#include "optC_model_parallel/parallel_functions.h"
#include "optC_model_parallel/parallel_layers.h"
#include "optC_model_parallel/tests/tensor/tensor_verdict.h"
#include "optC_model_parallel/tests/tensor/wrong_functions.h"

// Each mistake with split linear layers, and pairs of them, that the README warns of, as a wrong solution, and the case
// that catches it.
namespace lab::optc {
namespace {

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
  CHECK(verdict_of("ColumnLinearGathered",
                   column_call(copy_to_region, [](const std::vector<at::Tensor>& parts) { return at::cat(parts, 0); }))
            .find("[2, 3, 5, 24]") != std::string::npos);
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
  CHECK(differs("ParallelMlp",
                mlp_call([](const at::Tensor& x, const Tensors& shards, const CaseInputs&, Collectives& comm) {
                  const at::Tensor hidden = column_parallel_linear(x, shards[0], shards[1], false, comm);
                  return at::relu(row_parallel_linear(hidden, shards[2], shards[3], comm));
                })));
}

}  // namespace
}  // namespace lab::optc
