#include <cmath>

#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/cases/cases.h"
#include "a9_collectives/transformer.h"
#include "a9_collectives/transformer_parallel_functions.h"
#include "common/tensor/partition.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"

// Each mistake with tensor parallelism, Ulysses, their gradients and their communication that the README warns of, as
// a wrong solution, and the case that catches it.
namespace lab::a9 {
namespace {

using Block = BasicTransformerBlock;

std::string block_verdict(const std::string& case_name, const TaskCall& call, int num_ranks = 4) {
  std::vector<Case> cases = transformer_cases();
  for (const Case& further : transformer_gradient_cases()) cases.push_back(further);
  return testing::verdict(cases, case_name, call, num_ranks);
}

bool passes(const std::string& case_name, const TaskCall& call) {
  return block_verdict(case_name, call) == "passed";
}

/// A rank finds numbers that differ from the expected ones; none throws.
bool differs(const std::string& case_name, const TaskCall& call, int num_ranks = 4) {
  return block_verdict(case_name, call, num_ranks) == "mismatch";
}

/// The numbers are right on every rank, but a rank has sent too much, too little or by the wrong means.
bool is_over_budget(const std::string& case_name, const TaskCall& call) {
  return testing::contains(block_verdict(case_name, call), ", expected at ");
}

/// A result has another shape than expected.
bool has_wrong_shape(const std::string& case_name, const TaskCall& call) {
  return testing::contains(block_verdict(case_name, call), "[" + case_name + "], result '");
}

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
  bool whole_heads = false;
  bool residual_inside_sum = false;
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

    const at::Tensor again = enter(normalize(attended, block.ln2_weight, block.ln2_bias), f_before_ff);
    const at::Tensor hidden = at::relu(at::linear(again, block.fc1_shard, block.fc1_bias_shard));
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

TEST_CASE("wrong: every rank computes the whole block; right numbers, but the work is not shared") {
  const auto works_for_all = [](const std::string& case_name, const TaskCall& call, int num_ranks) {
    const std::string said = block_verdict(case_name, call, num_ranks);
    INFO(case_name << " on " << num_ranks << " ranks: " << said);
    CHECK(testing::contains(said, " of one process's work"));
  };
  const TaskCall whole = [](Communicator&, const CaseInputs& inputs) {
    return TensorMap{{"out", block_of(inputs).forward(inputs.tensor("input.x")).detach()}};
  };
  works_for_all("TensorParallel", whole, 2);
  works_for_all("TensorParallel", whole, 4);
  const TaskCall gathered = [](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x_shard = inputs.tensor("input.x_shard");
    // As many messages as an all-to-all there and back would have.
    const at::Tensor turned = my_all_to_all(x_shard, 2, 1, comm.point_to_point());
    const at::Tensor out_of_turn = my_all_to_all(turned, 1, 2, comm.point_to_point());
    const at::Tensor rows = out_of_turn.transpose(0, 1).contiguous();
    const at::Tensor x = my_allgather(rows, comm.point_to_point()).transpose(0, 1).contiguous();
    const at::Tensor out = block_of(inputs).forward(x).detach();
    return TensorMap{{"out", out.chunk(comm.size(), 1)[static_cast<std::size_t>(comm.rank())].contiguous()}};
  };
  works_for_all("Ulysses", gathered, 2);  // on more ranks, it sends too many bytes as well
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
  CHECK(passes("TensorParallel", call_of(TensorParallel())));
  CHECK(passes("TensorParallelGrad", gradient_call_of(TensorParallel())));
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
      return TensorMap{{"out", block.forward_tensor_parallel(inputs.tensor("input.x"), comm).detach()}};
    }));
  }
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

/// forward_ulysses with another way to and from attention.
struct Ulysses {
  using Exchange = std::function<at::Tensor(const at::Tensor&, Communicator&)>;
  /// [B, S/P, H, K] to what attention sees, and its context back.
  Exchange there = [](const at::Tensor& x, Communicator& comm) { return all_to_all_parallel(x, 2, 1, comm); };
  Exchange keys_there;  ///< for k and v, if not as for q
  Exchange back = [](const at::Tensor& x, Communicator& comm) { return all_to_all_parallel(x, 1, 2, comm); };
  double scale = 1;

  at::Tensor forward(const Block& block, const at::Tensor& x_shard, Communicator& comm) const {
    const at::Tensor normed = normalize(x_shard, block.ln1_weight, block.ln1_bias);
    const auto project = [&](const at::Tensor& weight, const Exchange& exchange) {
      return exchange(split_heads(at::linear(normed, weight), block.options().num_heads), comm);
    };
    const at::Tensor q = project(block.q_proj, there);
    const at::Tensor k = project(block.k_proj, keys_there ? keys_there : there);
    const at::Tensor v = project(block.v_proj, keys_there ? keys_there : there);
    const at::Tensor context = back(attention(q * scale, k, v), comm);
    const at::Tensor attended = x_shard + at::linear(context.reshape(x_shard.sizes()), block.o_proj);
    const at::Tensor again = normalize(attended, block.ln2_weight, block.ln2_bias);
    return attended + at::linear(at::relu(at::linear(again, block.fc1, block.fc1_bias)), block.fc2, block.fc2_bias);
  }
};

TaskCall call_of(const Ulysses& variant) {
  return [variant](Communicator& comm, const CaseInputs& inputs) {
    return TensorMap{{"out", variant.forward(block_of(inputs), inputs.tensor("input.x_shard"), comm).detach()}};
  };
}

TEST_CASE("right: the variant without a mistake, Ulysses") {
  CHECK(passes("Ulysses", call_of(Ulysses())));
  CHECK(passes("Ulysses8", call_of(Ulysses())));
}

TEST_CASE("wrong: attention over this rank's own positions") {
  Ulysses wrong;
  wrong.there = wrong.back = [](const at::Tensor& x, Communicator&) { return x; };
  CHECK(differs("Ulysses", call_of(wrong)));
}

TEST_CASE("wrong: heads are joined where positions should be, under the right shape") {
  // Parts arrive side by side along the heads and are only then called positions.
  Ulysses wrong;
  wrong.there = [](const at::Tensor& x, Communicator& comm) {
    const at::Tensor all = my_all_to_all(x.detach(), 2, 2, comm.point_to_point());
    return all.reshape({x.size(0), x.size(1) * comm.size(), x.size(2) / comm.size(), x.size(3)});
  };
  CHECK(differs("Ulysses", call_of(wrong)));
  CHECK(differs("Ulysses8", call_of(wrong)));
}

TEST_CASE("wrong: the context comes back with its dimensions as on the way there") {
  Ulysses wrong;
  wrong.back = wrong.there;
  CHECK(testing::contains(block_verdict("Ulysses8", call_of(wrong)),
                          "expected dimension 2 of [3, 16, 2, 4] to divide by 4 ranks, got 2"));
  CHECK(differs("Ulysses8", call_of(wrong), 2));
}

TEST_CASE("wrong: the context comes back with heads and positions mixed up") {
  Ulysses wrong;
  wrong.back = [](const at::Tensor& x, Communicator& comm) {
    return my_all_to_all(x.detach().transpose(1, 2), 2, 1, comm.point_to_point());  // [B, H, S/P, K]
  };
  CHECK(differs("Ulysses", call_of(wrong)));
}

TEST_CASE("wrong: what arrives is joined in the order of the neighbour on the left") {
  Ulysses wrong;
  wrong.there = [](const at::Tensor& x, Communicator& comm) {
    return all_to_all_parallel(x, 2, 1, comm).roll({x.size(1)}, {1});
  };
  CHECK(differs("Ulysses", call_of(wrong)));
}

TEST_CASE("wrong: scores over sqrt(d_model), in Ulysses") {
  Ulysses wrong;
  wrong.scale = 1 / std::sqrt(8.0);  // 8 heads: sqrt(K) / sqrt(D)
  CHECK(differs("Ulysses8", call_of(wrong)));
}

TEST_CASE("wrong: only rank 0 has the result, in Ulysses; or every rank has rank 0's part") {
  for (const bool zeros : {true, false}) {
    CHECK(differs("Ulysses", [&](Communicator& comm, const CaseInputs& inputs) {
      const at::Tensor out = block_of(inputs).forward_ulysses(inputs.tensor("input.x_shard"), comm).detach();
      const at::Tensor first = my_broadcast(out.clone(), 0, comm.point_to_point());
      return TensorMap{{"out", zeros && comm.rank() != 0 ? at::zeros_like(out) : first}};
    }));
  }
}

TEST_CASE("wrong: the built-in all-to-all in place of my_all_to_all; right numbers, but over its bound") {
  Ulysses wrong;
  wrong.there = [](const at::Tensor& x, Communicator& comm) {
    std::vector<at::Tensor> parts;
    std::vector<std::vector<std::int64_t>> shapes;
    for (const at::Tensor& chunk : x.detach().chunk(comm.size(), 2)) {
      parts.push_back(chunk.contiguous());
      shapes.push_back(chunk.sizes().vec());
    }
    return at::cat(comm.collectives().all_to_all(parts, shapes), 1);
  };
  CHECK(is_over_budget("Ulysses", call_of(wrong)));
}

TEST_CASE("wrong: keys and values are gathered on every rank; right numbers, but over its bound, or without messages") {
  for (const bool built_in : {true, false}) {
    Ulysses wrong;
    wrong.there = wrong.back = [](const at::Tensor& x, Communicator&) { return x; };
    wrong.keys_there = [built_in](const at::Tensor& x, Communicator& comm) {
      const at::Tensor rows = x.detach().transpose(0, 1).contiguous();
      const at::Tensor all =
          built_in ? at::cat(comm.collectives().all_gather(rows)) : my_allgather(rows, comm.point_to_point());
      return all.transpose(0, 1);
    };
    CHECK(is_over_budget("Ulysses", call_of(wrong)));
  }
}

TaskCall gradient_call_of(const Ulysses& variant, const std::function<void(const TensorMap&, Communicator&)>& finish) {
  return [=](Communicator& comm, const CaseInputs& inputs) {
    const Block block = block_of(inputs);
    const at::Tensor x_shard = inputs.tensor("input.x_shard").clone().requires_grad_();
    const at::Tensor out = variant.forward(block, x_shard, comm);
    out.backward(inputs.tensor("input.grad_out"));
    finish(block.weights(), comm);
    TensorMap results = {{"out", out.detach()}, {"x_shard.grad", x_shard.grad()}};
    add_gradients(block.weights(), results);
    return results;
  };
}

TEST_CASE("right: gradients through the variant without a mistake") {
  CHECK(passes("UlyssesGrad", gradient_call_of(Ulysses(), sum_gradients)));
}

TEST_CASE("wrong: weight gradients are averaged over the sequence shards, or left as parts") {
  for (const bool average : {true, false}) {
    CHECK(differs("UlyssesGrad", gradient_call_of(Ulysses(), [&](const TensorMap& weights, Communicator& comm) {
                    if (!average) return;
                    sum_gradients(weights, comm);
                    for (const auto& [name, weight] : weights) weight.grad().div_(comm.size());
                  })));
  }
}

TEST_CASE("wrong: the all-to-all breaks the graph, so q, k and v get no gradient") {
  Ulysses wrong;
  wrong.there = [](const at::Tensor& x, Communicator& comm) {
    return my_all_to_all(x.detach(), 2, 1, comm.point_to_point());
  };
  wrong.back = [](const at::Tensor& x, Communicator& comm) {
    return my_all_to_all(x.detach(), 1, 2, comm.point_to_point());
  };
  CHECK(passes("Ulysses", call_of(wrong)));
  CHECK(differs("UlyssesGrad", gradient_call_of(wrong, [](const TensorMap&, Communicator&) {})));
}

/// The results of ParallelFunctions, right except for what `change` does.
TaskCall functions(const std::function<void(TensorMap&, Communicator&, const CaseInputs&)>& change) {
  return [change](Communicator& comm, const CaseInputs& inputs) {
    TensorMap results = calls().at("a9.parallel_functions")(comm, inputs);
    change(results, comm, inputs);
    return results;
  };
}

TEST_CASE("right: the functions as they are") {
  CHECK(passes("ParallelFunctions", functions([](TensorMap&, Communicator&, const CaseInputs&) {})));
}

TEST_CASE("wrong: f changes the incoming gradient, or averages") {
  CHECK(differs("ParallelFunctions", functions([](TensorMap& results, Communicator&, const CaseInputs&) {
                  results["f.grad_out"] = results["f.x.grad"];
                })));
  CHECK(differs("ParallelFunctions", functions([](TensorMap& results, Communicator& comm, const CaseInputs&) {
                  results["f.x.grad"] = results["f.x.grad"] / comm.size();
                })));
}

TEST_CASE("wrong: g changes its input, or sums gradients") {
  CHECK(differs("ParallelFunctions", functions([](TensorMap& results, Communicator&, const CaseInputs&) {
                  results["g.x"] = results["g.out"];
                })));
  CHECK(differs("ParallelFunctions", functions([](TensorMap& results, Communicator& comm, const CaseInputs&) {
                  results["g.x.grad"] = my_allreduce(results["g.x.grad"].clone(), comm.point_to_point());
                })));
}

TEST_CASE("wrong: the all-to-all's backward pass leaves the dimensions as they were, or takes the wrong rank's part") {
  CHECK(testing::contains(block_verdict("ParallelFunctions",
                                        functions([](TensorMap& results, Communicator& comm, const CaseInputs& inputs) {
                                          results["all_to_all.x.grad"] = my_all_to_all(
                                              inputs.tensor("input.all_to_all.grad_out"), 2, 1, comm.point_to_point());
                                        })),
                          "expected dimension 2 of "));
  CHECK(differs("ParallelFunctions", functions([](TensorMap& results, Communicator&, const CaseInputs&) {
                  results["all_to_all.x.grad"] = results["all_to_all.x.grad"].roll({2}, {2});
                })));
}

TEST_CASE("wrong: one built-in collective among one's own; right numbers, but over its bound") {
  const TaskCall own = calls().at("a9.design");
  CHECK(passes("OwnCollectives", own));
  CHECK(is_over_budget("OwnCollectives", [own](Communicator& comm, const CaseInputs& inputs) {
    comm.collectives().all_reduce(at::ones({1}));
    return own(comm, inputs);
  }));
  CHECK(is_over_budget("OwnCollectives", [own](Communicator& comm, const CaseInputs& inputs) {
    comm.collectives().barrier();
    return own(comm, inputs);
  }));
}

}  // namespace
}  // namespace lab::a9
