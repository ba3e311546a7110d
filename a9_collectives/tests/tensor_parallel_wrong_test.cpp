#include <cmath>

#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/cases/cases.h"
#include "a9_collectives/tests/transformer_verdict.h"
#include "a9_collectives/transformer.h"
#include "a9_collectives/transformer_parallel_functions.h"
#include "common/tensor/partition.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"

// Each tensor-parallel mistake that the README warns of, as a wrong solution, and the case that catches it.
namespace lab::a9 {
namespace {

using Block = BasicTransformerBlock;

void cut(Block& block, Communicator& comm) {
  block.init_tensor_parallel_shards(comm);
  poison_sharded_weights(block);
}

/// The task's call, with one thing done differently to the shards.
using Change = std::function<void(Block&, Communicator&)>;

TaskCall shards(const Change& change) {
  return [change](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    block.init_tensor_parallel_shards(comm);
    change(block, comm);
    poison_sharded_weights(block);
    TensorMap results;
    for (const auto& [name, shard] : block.shards()) results[name] = shard.detach();
    return results;
  };
}

at::Tensor part(const at::Tensor& tensor, std::int64_t dim, Communicator& comm) {
  const Slice slice = even_slice(tensor.size(dim), comm.size(), comm.rank());
  return tensor.detach().narrow(dim, slice.begin, slice.size);
}

TEST_CASE("right: the shards as the reference cuts them") {
  CHECK(passes("TensorParallelShards", shards([](Block&, Communicator&) {})));
}

TEST_CASE("wrong: rows and columns changed places") {
  CHECK(is_refused("TensorParallelShards", shards([](Block& block, Communicator& comm) {
                     block.q_proj_shard = part(block.q_proj, 1, comm).clone();
                   })));
  CHECK(is_refused("TensorParallelShards", shards([](Block& block, Communicator& comm) {
                     block.fc2_shard = part(block.fc2, 0, comm).clone();
                   })));
  // The right shape by accident: columns, transposed.
  CHECK(differs("TensorParallelShards", shards([](Block& block, Communicator& comm) {
                  block.o_proj_shard = part(block.o_proj, 0, comm).t().clone();
                })));
}

TEST_CASE("wrong: the shards of k and v are taken from q") {
  CHECK(differs("TensorParallelShards", shards([](Block& block, Communicator&) {
                  block.k_proj_shard = block.v_proj_shard = block.q_proj_shard;
                })));
}

TEST_CASE("wrong: every rank takes the first rows") {
  CHECK(differs("TensorParallelShards", shards([](Block& block, Communicator& comm) {
                  block.fc1_shard = block.fc1.detach().narrow(0, 0, block.fc1.size(0) / comm.size()).clone();
                })));
}

TEST_CASE("wrong: fc1's bias stays whole, or a shard is never set") {
  CHECK(is_refused("TensorParallelShards", shards([](Block& block, Communicator&) {
                     block.fc1_bias_shard = block.fc1_bias.detach().clone();
                   })));
  CHECK(differs("TensorParallelShards", [](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    block.init_tensor_parallel_shards(comm);
    TensorMap results = block.shards();
    for (auto& [name, shard] : results) shard = name == "v_proj_shard" ? at::Tensor() : shard.detach();
    return results;
  }));
}

TEST_CASE("wrong: a shard is a view of the whole weight") {
  CHECK(differs("TensorParallelShards",
                shards([](Block& block, Communicator& comm) { block.q_proj_shard = part(block.q_proj, 0, comm); })));
}

/// forward_tensor_parallel with the usual mistakes, each switched on separately.
struct TensorParallel {
  bool sum_after_attention = true;
  bool sum_after_ff = true;
  bool f_before_attention = true;
  bool f_before_ff = true;
  bool g_sums_both_ways = false;
  bool sum_breaks_graph = false;
  bool sum_behind_autograd = false;
  enum class Bias { kOnce, kOnEveryRank, kNever } bias = Bias::kOnce;
  bool no_fc1_bias = false;
  bool whole_heads = false;
  bool residual_inside_sum = false;
  bool second_norm_is_first = false;
  bool frozen_shard = false;
  double scale = 1;  ///< of the attention scores, on top of 1/sqrt(K)

  at::Tensor forward(const Block& block, const at::Tensor& x, Communicator& comm) const {
    const auto enter = [&](const at::Tensor& tensor, bool through_f) {
      return through_f ? broadcast_parallel(tensor, comm) : tensor;
    };
    const auto leave = [&](const at::Tensor& tensor, bool summed) {
      if (!summed) return tensor;
      if (sum_breaks_graph) return my_allreduce(tensor.detach().clone(), comm.point_to_point());
      if (sum_behind_autograd) return my_allreduce(tensor, comm.point_to_point());
      const at::Tensor sum = reduce_parallel(tensor, comm);
      return g_sums_both_ways ? broadcast_parallel(sum, comm) : sum;
    };
    // The mistake is to keep the number of heads, so that each is smaller.
    const std::int64_t heads = block.options().num_heads / (whole_heads ? 1 : comm.size());
    const at::Tensor normed = enter(normalize(x, block.ln1_weight, block.ln1_bias), f_before_attention);
    const at::Tensor q = split_heads(at::linear(normed, block.q_proj_shard), heads);
    const at::Tensor k = split_heads(at::linear(normed, block.k_proj_shard), heads);
    const at::Tensor v = split_heads(at::linear(normed, block.v_proj_shard), heads);
    const at::Tensor projected = at::linear(merge_heads(attention(q * scale, k, v)), block.o_proj_shard);
    const at::Tensor attended =
        residual_inside_sum ? leave(x + projected, sum_after_attention) : x + leave(projected, sum_after_attention);

    const at::Tensor again = second_norm_is_first ? normalize(attended, block.ln1_weight, block.ln1_bias)
                                                  : normalize(attended, block.ln2_weight, block.ln2_bias);
    const at::Tensor hidden = at::relu(
        at::linear(enter(again, f_before_ff), block.fc1_shard, no_fc1_bias ? at::Tensor() : block.fc1_bias_shard));
    at::Tensor out = at::linear(hidden, block.fc2_shard);
    if (bias == Bias::kOnEveryRank) out = out + block.fc2_bias;
    out = leave(out, sum_after_ff);
    if (bias == Bias::kOnce) out = out + block.fc2_bias;
    return attended + out;
  }
};

TaskCall call_of(const TensorParallel& variant) {
  return [variant](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    cut(block, comm);
    return TensorMap{{"out", variant.forward(block, inputs.tensor("input.x"), comm).detach()}};
  };
}

TaskCall gradient_call_of(const TensorParallel& variant) {
  return [variant](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    cut(block, comm);
    if (variant.frozen_shard) block.v_proj_shard.requires_grad_(false);
    const at::Tensor x = inputs.tensor("input.x").clone().requires_grad_();
    const at::Tensor out = variant.forward(block, x, comm);
    out.backward(inputs.tensor("input.grad_out"));
    TensorMap results = {{"out", out.detach()}, {"x.grad", x.grad()}};
    add_gradients(block.shards(), results);
    for (const char* name : {"ln1_weight", "ln1_bias", "ln2_weight", "ln2_bias", "fc2_bias"})
      results[std::string(name) + ".grad"] = block.weights().at(name).grad();
    return results;
  };
}

TEST_CASE("right: the variant without a mistake") {
  CHECK(passes("TensorParallel", call_of({})));
  CHECK(passes("TensorParallelGrad", gradient_call_of({})));
}

TEST_CASE("wrong: fc2's bias is added on every rank before the sum, or never") {
  for (const auto bias : {TensorParallel::Bias::kOnEveryRank, TensorParallel::Bias::kNever}) {
    TensorParallel wrong;
    wrong.bias = bias;
    const std::string symptom = bias == TensorParallel::Bias::kNever ? "bias_missing" : "bias_times_world_size";
    for (const char* name : {"TensorParallel", "TensorParallel8"}) {
      CHECK(differs(name, call_of(wrong)));
      CHECK(testing::symptom_of(transformer_cases(), name, call_of(wrong), 4) == symptom);
    }
  }
}

TEST_CASE("wrong: no sum after attention, or none after the feed-forward layers") {
  TensorParallel wrong;
  wrong.sum_after_attention = false;
  CHECK(differs("TensorParallel", call_of(wrong)));
  wrong = {};
  wrong.sum_after_ff = false;
  CHECK(differs("TensorParallel", call_of(wrong)));
}

TEST_CASE("wrong: the residual goes into the sum, P times") {
  TensorParallel wrong;
  wrong.residual_inside_sum = true;
  CHECK(differs("TensorParallel", call_of(wrong)));
}

TEST_CASE("wrong: scores over sqrt(d_model), all heads in the shard, no fc1 bias, the first norm twice") {
  TensorParallel wrong;
  wrong.scale = 1 / std::sqrt(4.0);  // 4 heads: sqrt(K) / sqrt(D)
  CHECK(differs("TensorParallel", call_of(wrong)));
  wrong = {};
  wrong.whole_heads = true;
  CHECK(differs("TensorParallel", call_of(wrong)));
  wrong = {};
  wrong.no_fc1_bias = true;
  CHECK(differs("TensorParallel", call_of(wrong)));
  wrong = {};
  wrong.second_norm_is_first = true;
  CHECK(differs("TensorParallel", call_of(wrong)));
}

TEST_CASE("wrong: the whole weights are used and the shards are not") {
  CHECK(differs("TensorParallel", [](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    cut(block, comm);
    return TensorMap{{"out", block.forward(inputs.tensor("input.x")).detach()}};
  }));
}

TEST_CASE("wrong: the shards are gathered back into whole weights; right numbers, but over its bound") {
  for (const bool built_in : {true, false}) {
    CHECK(is_over_budget("TensorParallel", [built_in](Communicator& comm, const CaseInputs& inputs) {
      Block block = block_of(inputs);
      cut(block, comm);
      const auto whole = [&](const at::Tensor& shard, std::int64_t dim) {
        const at::Tensor rows = shard.detach().transpose(0, dim).contiguous();
        const at::Tensor all =
            built_in ? at::cat(comm.collectives().all_gather(rows)) : my_allgather(rows, comm.point_to_point());
        return all.transpose(0, dim);
      };
      block.q_proj = whole(block.q_proj_shard, 0);
      block.k_proj = whole(block.k_proj_shard, 0);
      block.v_proj = whole(block.v_proj_shard, 0);
      block.o_proj = whole(block.o_proj_shard, 1);
      block.fc1 = whole(block.fc1_shard, 0);
      block.fc1_bias = whole(block.fc1_bias_shard, 0);
      block.fc2 = whole(block.fc2_shard, 1);
      return TensorMap{{"out", block.forward(inputs.tensor("input.x")).detach()}};
    }));
  }
}

TEST_CASE("wrong: only rank 0 has the result") {
  CHECK(differs("TensorParallel", [](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    cut(block, comm);
    const at::Tensor out = block.forward_tensor_parallel(inputs.tensor("input.x"), comm).detach();
    return TensorMap{{"out", comm.rank() == 0 ? out : at::zeros_like(out)}};
  }));
}

TEST_CASE("wrong: f is missing; outputs are right, gradients before it are one rank's part") {
  for (const bool before_attention : {true, false}) {
    TensorParallel wrong;
    (before_attention ? wrong.f_before_attention : wrong.f_before_ff) = false;
    CHECK(passes("TensorParallel", call_of(wrong)));
    CHECK(differs("TensorParallelGrad", gradient_call_of(wrong)));
  }
}

TEST_CASE("wrong: g sums in its backward pass as well; gradients are P times too large") {
  TensorParallel wrong;
  wrong.g_sums_both_ways = true;
  CHECK(passes("TensorParallel", call_of(wrong)));
  CHECK(differs("TensorParallelGrad", gradient_call_of(wrong)));
}

TEST_CASE("wrong: the all-reduce breaks the graph; no gradient gets through it") {
  TensorParallel wrong;
  wrong.sum_breaks_graph = true;
  CHECK(passes("TensorParallel", call_of(wrong)));
  CHECK(differs("TensorParallelGrad", gradient_call_of(wrong)));
}

TEST_CASE("right, if by accident: my_allreduce on a fresh tensor is g, since autograd does not see it") {
  TensorParallel plain;
  plain.sum_behind_autograd = true;
  CHECK(passes("TensorParallel", call_of(plain)));
  CHECK(passes("TensorParallelGrad", gradient_call_of(plain)));
}

TEST_CASE("wrong: a shard requires no gradient") {
  TensorParallel wrong;
  wrong.frozen_shard = true;
  CHECK(differs("TensorParallelGrad", gradient_call_of(wrong)));
}

}  // namespace
}  // namespace lab::a9
