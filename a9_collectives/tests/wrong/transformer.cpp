#include "a9_collectives/tests/wrong/transformer.h"

#include "a9_collectives/allreduce.h"
#include "a9_collectives/cases/cases.h"
#include "common/api/partition.h"
#include "common/testing/case_runs.h"

namespace lab::a9 {
namespace {

at::Tensor plus_residual(const at::Tensor& x, const at::Tensor& out, bool in_place) {
  return in_place ? x.add_(out) : x + out;
}

}  // namespace

std::string block_verdict(const std::string& case_name, const TaskCall& call, int num_ranks) {
  std::vector<Case> cases = transformer_cases();
  for (const Case& further : transformer_gradient_cases()) cases.push_back(further);
  return testing::verdict(cases, case_name, call, num_ranks);
}

bool passes(const std::string& case_name, const TaskCall& call, int num_ranks) {
  return block_verdict(case_name, call, num_ranks) == "passed";
}

bool differs(const std::string& case_name, const TaskCall& call, int num_ranks) {
  return block_verdict(case_name, call, num_ranks) == "mismatch";
}

bool is_over_budget(const std::string& case_name, const TaskCall& call, int num_ranks) {
  return testing::contains(block_verdict(case_name, call, num_ranks), ", expected at ");
}

bool has_wrong_shape(const std::string& case_name, const TaskCall& call, int num_ranks) {
  return testing::contains(block_verdict(case_name, call, num_ranks), "[" + case_name + "], result '");
}

void cut(Block& block, Communicator& comm) {
  block.init_tensor_parallel_shards(comm);
  poison_sharded_weights(block);
}

at::Tensor part(const at::Tensor& tensor, std::int64_t dim, Communicator& comm) {
  const Slice slice = even_slice(tensor.size(dim), comm.size(), comm.rank());
  return tensor.detach().narrow(dim, slice.begin, slice.size);
}

at::Tensor TensorParallel::forward(const Block& block, const at::Tensor& x, Communicator& comm) const {
  const auto enter = [&](const at::Tensor& tensor, bool through_f) {
    return through_f ? broadcast_parallel(tensor, comm) : tensor;
  };
  const auto leave = [&](const at::Tensor& tensor, bool summed) {
    if (!summed) return tensor;
    if (sum) return sum(tensor, comm);
    if (sum_breaks_graph) return my_allreduce(tensor.detach().clone(), comm.point_to_point());
    if (sum_behind_autograd) return my_allreduce(tensor, comm.point_to_point());
    const at::Tensor reduced = reduce_parallel(tensor, comm);
    return g_sums_both_ways ? broadcast_parallel(reduced, comm) : reduced;
  };
  // The mistake is to keep the number of heads, so that each is smaller.
  const std::int64_t heads = block.options().num_heads / (whole_heads ? 1 : comm.size());
  const at::Tensor normed = enter(normalize(x, block.ln1_weight, block.ln1_bias), f_before_attention);
  const at::Tensor q = split_heads(at::linear(normed, block.q_proj_shard), heads);
  const at::Tensor k = split_heads(at::linear(normed, block.k_proj_shard), heads);
  const at::Tensor v = split_heads(at::linear(normed, block.v_proj_shard), heads);
  const at::Tensor projected = at::linear(merge_heads(attention(q * scale, k, v)), block.o_proj_shard);
  const at::Tensor attended = residual_inside_sum
                                  ? leave(x + projected, sum_after_attention)
                                  : plus_residual(x, leave(projected, sum_after_attention), residual_in_place);

  const at::Tensor again = enter(normalize(attended, block.ln2_weight, block.ln2_bias), f_before_ff);
  const at::Tensor hidden = at::relu(at::linear(again, block.fc1_shard, block.fc1_bias_shard));
  at::Tensor out = at::linear(hidden, block.fc2_shard);
  if (bias == Bias::kOnEveryRank) out = out + block.fc2_bias;
  out = leave(out, sum_after_ff);
  if (bias == Bias::kOnce) out = out + block.fc2_bias;
  return attended + out;
}

at::Tensor Ulysses::forward(const Block& block, const at::Tensor& x_shard, Communicator& comm) const {
  const at::Tensor normed = normalize(x_shard, block.ln1_weight, block.ln1_bias);
  const auto project = [&](const at::Tensor& weight, const Exchange& exchange) {
    return exchange(split_heads(at::linear(normed, weight), block.options().num_heads), comm);
  };
  const at::Tensor q = project(block.q_proj, there);
  const at::Tensor k = project(block.k_proj, keys_there ? keys_there : there);
  const at::Tensor v = project(block.v_proj, keys_there ? keys_there : there);
  const at::Tensor context = back(attention(q * scale, k, v), comm);
  const at::Tensor projected = at::linear(context.reshape(x_shard.sizes()), block.o_proj);
  const at::Tensor attended = plus_residual(x_shard, projected, residual_in_place);
  const at::Tensor again = normalize(attended, block.ln2_weight, block.ln2_bias);
  return attended + at::linear(at::relu(at::linear(again, block.fc1, block.fc1_bias)), block.fc2, block.fc2_bias);
}

TaskCall call_of(const TensorParallel& variant) {
  return [variant](Communicator& comm, const CaseInputs& inputs) {
    Block block = block_of(inputs);
    cut(block, comm);
    return tensor_parallel_results(block, inputs, variant.forward(block, inputs.tensor("input.x"), comm));
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

TaskCall call_of(const Ulysses& variant) {
  return [variant](Communicator& comm, const CaseInputs& inputs) {
    const Block block = block_of(inputs);
    return ulysses_results(block, inputs, variant.forward(block, inputs.tensor("input.x_shard"), comm));
  };
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

}  // namespace lab::a9
