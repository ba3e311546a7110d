#include "a9_collectives/transformer.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/tensor/seeded.h"

namespace lab::a9 {
namespace {

using Block = BasicTransformerBlock;

struct Member {
  const char* name;
  at::Tensor Block::*tensor;
  std::vector<std::int64_t> shape;
};

std::vector<Member> weight_members(const TransformerOptions& options) {
  const std::int64_t d = options.d_model;
  const std::int64_t f = options.d_ff;
  return {{"ln1_weight", &Block::ln1_weight, {d}},
          {"ln1_bias", &Block::ln1_bias, {d}},
          {"q_proj", &Block::q_proj, {d, d}},
          {"k_proj", &Block::k_proj, {d, d}},
          {"v_proj", &Block::v_proj, {d, d}},
          {"o_proj", &Block::o_proj, {d, d}},
          {"ln2_weight", &Block::ln2_weight, {d}},
          {"ln2_bias", &Block::ln2_bias, {d}},
          {"fc1", &Block::fc1, {f, d}},
          {"fc1_bias", &Block::fc1_bias, {f}},
          {"fc2", &Block::fc2, {d, f}},
          {"fc2_bias", &Block::fc2_bias, {d}}};
}

}  // namespace

TensorMap initial_weights(const TransformerOptions& options, std::uint64_t seed, at::ScalarType dtype) {
  TensorMap weights;
  for (const Member& member : weight_members(options)) weights[member.name] = at::zeros(member.shape, dtype);
  weights["ln1_weight"].fill_(1);
  weights["ln2_weight"].fill_(1);
  const at::Generator generator = make_generator(seed);
  for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj", "fc1", "fc1_bias"})
    init_linear_uniform(weights[name], options.d_model, generator);
  for (const char* name : {"fc2", "fc2_bias"}) init_linear_uniform(weights[name], options.d_ff, generator);
  return weights;
}

BasicTransformerBlock::BasicTransformerBlock(const TransformerOptions& options, const TensorMap& weights)
    : options_(options) {
  if (options.num_heads < 1 || options.d_model % options.num_heads != 0)
    throw ContractError(fmt::format("expected a number of heads that divides the model dimension {}, got {}",
                                    options.d_model, options.num_heads));
  const std::vector<Member> members = weight_members(options);
  for (const Member& member : members) {
    const auto found = weights.find(member.name);
    const at::Tensor given = found == weights.end() ? at::Tensor() : found->second;
    if (!given.defined() || given.sizes() != at::IntArrayRef(member.shape))
      throw ContractError(fmt::format("weight '{}' of the block: expected shape {}, got {}", member.name,
                                      shape_text(member.shape), describe(given)));
    this->*member.tensor = given.detach().clone().requires_grad_();
  }
  if (weights.size() != members.size())
    throw ContractError(fmt::format("expected the block's {} weights, got {}", members.size(), weights.size()));
}

at::Tensor BasicTransformerBlock::forward(const at::Tensor& x) const {
  check(x, {-1, -1, options_.d_model});
  const at::Tensor normed = normalize(x, ln1_weight, ln1_bias);
  const at::Tensor q = split_heads(at::linear(normed, q_proj), options_.num_heads);
  const at::Tensor k = split_heads(at::linear(normed, k_proj), options_.num_heads);
  const at::Tensor v = split_heads(at::linear(normed, v_proj), options_.num_heads);
  const at::Tensor attended = x + at::linear(merge_heads(attention(q, k, v)), o_proj);

  const at::Tensor hidden = at::relu(at::linear(normalize(attended, ln2_weight, ln2_bias), fc1, fc1_bias));
  return attended + at::linear(hidden, fc2, fc2_bias);
}

TensorMap BasicTransformerBlock::weights() const {
  TensorMap map;
  for (const Member& member : weight_members(options_)) map[member.name] = this->*member.tensor;
  return map;
}

TensorMap BasicTransformerBlock::shards() const {
  return {{"q_proj_shard", q_proj_shard}, {"k_proj_shard", k_proj_shard}, {"v_proj_shard", v_proj_shard},
          {"o_proj_shard", o_proj_shard}, {"fc1_shard", fc1_shard},       {"fc1_bias_shard", fc1_bias_shard},
          {"fc2_shard", fc2_shard}};
}

void BasicTransformerBlock::require_even_heads(const Communicator& comm) const {
  if (options_.num_heads % comm.size() == 0) return;
  throw ContractError(fmt::format("transformer block, rank {}: {} heads do not divide by {} ranks", comm.rank(),
                                  options_.num_heads, comm.size()));
}

void BasicTransformerBlock::require_shards(const Communicator& comm) const {
  require_even_heads(comm);
  const std::int64_t d = options_.d_model;
  const std::int64_t d_part = d / comm.size();
  const std::int64_t f_part = options_.d_ff / comm.size();
  const std::map<std::string, std::vector<std::int64_t>> shapes = {
      {"q_proj_shard", {d_part, d}}, {"k_proj_shard", {d_part, d}}, {"v_proj_shard", {d_part, d}},
      {"o_proj_shard", {d, d_part}}, {"fc1_shard", {f_part, d}},    {"fc1_bias_shard", {f_part}},
      {"fc2_shard", {d, f_part}}};
  for (const auto& [name, shard] : shards()) {
    const std::vector<std::int64_t>& shape = shapes.at(name);
    if (shard.defined() && shard.sizes() == at::IntArrayRef(shape)) continue;
    throw ContractError(
        fmt::format("transformer block, rank {}: expected {} of shape {}, got {}; hint: init_tensor_parallel_shards()",
                    comm.rank(), name, shape_text(shape), describe(shard)));
  }
}

at::Tensor normalize(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return at::layer_norm(x, {x.size(-1)}, weight, bias);
}

at::Tensor split_heads(const at::Tensor& x, std::int64_t num_heads) {
  return x.reshape({x.size(0), x.size(1), num_heads, x.size(2) / num_heads});
}

at::Tensor merge_heads(const at::Tensor& x) {
  return x.flatten(2);
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
  const at::Tensor scores = at::matmul(q.transpose(1, 2), k.permute({0, 2, 3, 1})) * scale;  // [B, heads, S, S]
  return at::matmul(at::softmax(scores, -1), v.transpose(1, 2)).transpose(1, 2);
}

}  // namespace lab::a9
