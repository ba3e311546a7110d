#include <c10/core/GradMode.h>

#include <cmath>

#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/cases/cases.h"
#include "a9_collectives/chunks.h"
#include "a9_collectives/tests/wrong/transformer.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"

// Each mistake with tensor parallelism that the README warns of, as a wrong solution, and the case that catches it.
namespace lab::a9 {
namespace {

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

TEST_CASE("right: the shards as the reference cuts them") {
  CHECK(passes("TensorParallelShards", shards([](Block&, Communicator&) {})));
}

TEST_CASE("wrong: rows and columns changed places") {
  CHECK(has_wrong_shape("TensorParallelShards", shards([](Block& block, Communicator& comm) {
                          block.q_proj_shard = part(block.q_proj, 1, comm).clone();
                        })));
  CHECK(has_wrong_shape("TensorParallelShards", shards([](Block& block, Communicator& comm) {
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
  CHECK(has_wrong_shape("TensorParallelShards", shards([](Block& block, Communicator&) {
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

TEST_CASE("right: the variant without a mistake") {
  CHECK(passes("TensorParallel", call_of(TensorParallel())));
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
  for (const bool no_bias : {true, false}) {
    CHECK(differs("TensorParallel", [no_bias](Communicator& comm, const CaseInputs& inputs) {
      Block block = block_of(inputs);
      cut(block, comm);
      if (no_bias) block.fc1_bias_shard = at::zeros_like(block.fc1_bias_shard);
      if (!no_bias) block.ln2_weight = block.ln1_weight, block.ln2_bias = block.ln1_bias;
      return tensor_parallel_results(block, inputs, block.forward_tensor_parallel(inputs.tensor("input.x"), comm));
    }));
  }
}

TEST_CASE("wrong: the whole weights are used and the shards are not") {
  CHECK(differs("TensorParallel", [](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    cut(block, comm);
    return tensor_parallel_results(block, inputs, block.forward(inputs.tensor("input.x")));
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
      return tensor_parallel_results(block, inputs, block.forward(inputs.tensor("input.x")));
    }));
  }
}

TEST_CASE("wrong: only rank 0 has the result") {
  CHECK(differs("TensorParallel", [](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    cut(block, comm);
    const at::Tensor out = block.forward_tensor_parallel(inputs.tensor("input.x"), comm).detach();
    return tensor_parallel_results(block, inputs, comm.rank() == 0 ? out : at::zeros_like(out));
  }));
}

TEST_CASE("wrong: x is changed, or a shard, whatever is returned") {
  TensorParallel in_place;
  in_place.residual_in_place = true;
  const TaskCall scales_shard = [](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    cut(block, comm);
    TensorParallel halves;
    halves.scale = 0.5;
    const c10::NoGradGuard no_grad;
    block.q_proj_shard.mul_(2);  // instead of the scores
    return tensor_parallel_results(block, inputs, halves.forward(block, inputs.tensor("input.x"), comm));
  };
  for (const char* name : {"TensorParallel", "TensorParallel8"}) {
    CHECK(differs(name, call_of(in_place)));
    CHECK(testing::symptom_of(transformer_cases(), name, call_of(in_place), 4) == "argument_changed");
    CHECK(differs(name, scales_shard));
  }
}

TEST_CASE("wrong: the default sizes in place of the block's") {
  CHECK_FALSE(passes("TensorParallelShards", shards([](Block& block, Communicator& comm) {
                       const std::int64_t length = TransformerOptions().d_ff / comm.size();
                       block.fc2_shard = block.fc2.detach().narrow(1, comm.rank() * length, length).clone();
                     })));
  const TaskCall scores = [](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    cut(block, comm);
    TensorParallel wrong;
    // The right scale times one from another width of a head.
    const double heads = static_cast<double>(block.options().num_heads);
    wrong.scale = std::sqrt(static_cast<double>(block.options().d_model) / heads) /
                  std::sqrt(static_cast<double>(TransformerOptions().d_model) / heads);
    return tensor_parallel_results(block, inputs, wrong.forward(block, inputs.tensor("input.x"), comm));
  };
  CHECK(passes("TensorParallel", scores));
  for (const int size : {1, 3, 4}) CHECK(differs("TensorParallel8", scores, size));
}

TEST_CASE("wrong: a sum that is right on powers of two only, or on up to four ranks") {
  TensorParallel pairs, first_four;
  pairs.sum = [](const at::Tensor& summand, Communicator& comm) {
    const at::Tensor sum = summand.detach().clone();
    // Who has no partner stands aside, and its summand is forgotten.
    for (int distance = 1; distance < comm.size(); distance *= 2) {
      const int partner = comm.rank() ^ distance;
      const at::Tensor received = at::zeros_like(sum);
      if (partner < comm.size()) sendrecv(comm.point_to_point(), sum, partner, received, partner);
      sum.add_(received);
    }
    return sum;
  };
  first_four.sum = [](const at::Tensor& summand, Communicator& comm) {
    const at::Tensor all = my_allgather(summand.detach().unsqueeze(0), comm.point_to_point());
    return all.narrow(0, 0, std::min(4, comm.size())).sum(0);
  };
  for (const int size : {1, 2, 4}) {
    CHECK(passes("TensorParallel8", call_of(pairs), size));
    CHECK(passes("TensorParallel8", call_of(first_four), size));
  }
  CHECK(passes("TensorParallel8", call_of(pairs), 8));
  for (const int size : {3, 5, 6, 7}) CHECK(differs("TensorParallel8", call_of(pairs), size));
  for (const int size : {5, 7, 8}) CHECK(differs("TensorParallel8", call_of(first_four), size));
}

}  // namespace
}  // namespace lab::a9
