#include <cmath>

#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/cases/cases.h"
#include "a9_collectives/tests/transformer_verdict.h"
#include "a9_collectives/transformer.h"
#include "a9_collectives/transformer_parallel_functions.h"
#include "common/testing/test.h"

// Each mistake with Ulysses, gradients and communication that the README warns of, as a wrong solution, and the case
// that catches it.
namespace lab::a9 {
namespace {

using Block = BasicTransformerBlock;

/// forward_ulysses with another way to and from attention.
struct Ulysses {
  /// [B, S/P, H, K] to what attention sees, and its context back.
  using Exchange = std::function<at::Tensor(const at::Tensor&, Communicator&)>;
  Exchange there = [](const at::Tensor& x, Communicator& comm) { return all_to_all_parallel(x, 2, 1, comm); };
  Exchange back = [](const at::Tensor& x, Communicator& comm) { return all_to_all_parallel(x, 1, 2, comm); };
  double scale = 1;

  at::Tensor forward(const Block& block, const at::Tensor& x_shard, Communicator& comm) const {
    const at::Tensor normed = normalize(x_shard, block.ln1_weight, block.ln1_bias);
    const auto project = [&](const at::Tensor& weight) {
      return there(split_heads(at::linear(normed, weight), block.options().num_heads), comm);
    };
    const at::Tensor q = project(block.q_proj);
    const at::Tensor k = project(block.k_proj);
    const at::Tensor v = project(block.v_proj);
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
  CHECK(is_refused("Ulysses8", call_of(wrong)));
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

/// Attention of this rank's queries over keys and values gathered from all.
at::Tensor by_gathered_keys(const Block& block, const at::Tensor& x_shard,
                            const std::function<at::Tensor(const at::Tensor&)>& all_positions) {
  const at::Tensor normed = normalize(x_shard, block.ln1_weight, block.ln1_bias);
  const auto project = [&](const at::Tensor& weight) {
    return split_heads(at::linear(normed, weight), block.options().num_heads).detach();
  };
  const at::Tensor context =
      attention(project(block.q_proj), all_positions(project(block.k_proj)), all_positions(project(block.v_proj)));
  const at::Tensor attended = x_shard + at::linear(merge_heads(context), block.o_proj);
  const at::Tensor again = normalize(attended, block.ln2_weight, block.ln2_bias);
  return attended + at::linear(at::relu(at::linear(again, block.fc1, block.fc1_bias)), block.fc2, block.fc2_bias);
}

TEST_CASE("wrong: keys and values are gathered on every rank; right numbers, but over its bound, or without messages") {
  for (const bool built_in : {true, false}) {
    CHECK(is_over_budget("Ulysses", [built_in](Communicator& comm, const CaseInputs& inputs) {
      const auto gather = [&](const at::Tensor& x) {
        const at::Tensor rows = x.transpose(0, 1).contiguous();
        const at::Tensor all =
            built_in ? at::cat(comm.collectives().all_gather(rows)) : my_allgather(rows, comm.point_to_point());
        return all.transpose(0, 1);
      };
      return TensorMap{{"out", by_gathered_keys(block_of(inputs), inputs.tensor("input.x_shard"), gather).detach()}};
    }));
  }
}

TEST_CASE("right: q, k and v may travel in one message") {
  CHECK(passes("Ulysses", [](Communicator& comm, const CaseInputs& inputs) {
    const Block block = block_of(inputs);
    const at::Tensor x_shard = inputs.tensor("input.x_shard");
    const at::Tensor normed = normalize(x_shard, block.ln1_weight, block.ln1_bias);
    const std::int64_t heads = block.options().num_heads;
    const at::Tensor packed = at::stack({split_heads(at::linear(normed, block.q_proj), heads),
                                         split_heads(at::linear(normed, block.k_proj), heads),
                                         split_heads(at::linear(normed, block.v_proj), heads)});
    const at::Tensor qkv = all_to_all_parallel(packed, 3, 2, comm);
    const at::Tensor context = all_to_all_parallel(attention(qkv[0], qkv[1], qkv[2]), 1, 2, comm);
    const at::Tensor attended = x_shard + at::linear(merge_heads(context), block.o_proj);
    const at::Tensor again = normalize(attended, block.ln2_weight, block.ln2_bias);
    const at::Tensor hidden = at::relu(at::linear(again, block.fc1, block.fc1_bias));
    return TensorMap{{"out", (attended + at::linear(hidden, block.fc2, block.fc2_bias)).detach()}};
  }));
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
  CHECK(is_refused("ParallelFunctions", functions([](TensorMap& results, Communicator& comm, const CaseInputs& inputs) {
                     results["all_to_all.x.grad"] =
                         my_all_to_all(inputs.tensor("input.all_to_all.grad_out"), 2, 1, comm.point_to_point());
                   })));
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
