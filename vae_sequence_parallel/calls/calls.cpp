#include "vae_sequence_parallel/calls/calls.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "common/tensor/meters/memory_meter.h"
#include "common/tensor/meters/work_meter.h"
#include "vae_sequence_parallel/calls/case_inputs.h"
#include "vae_sequence_parallel/calls/leaf_weights.h"
#include "vae_sequence_parallel/calls/module_call.h"
#include "vae_sequence_parallel/model/checkpoint.h"
#include "vae_sequence_parallel/parallel_autoencoder.h"
#include "vae_sequence_parallel/peak_bytes.h"
#include "vae_sequence_parallel/sequence_attention.h"

namespace lab::vae {
namespace {

ParallelAutoEncoder make_model(const CaseInputs& inputs, Communicator& comm) {
  CheckpointWeights source(read_weights(inputs), "the serial module's parameters",
                           inputs.tensor("input.latent").scalar_type());
  LeafWeights on_device(source, inputs.device);
  ParallelAutoEncoder model(Weights(on_device), make_config(inputs), comm);
  source.finish();
  return model;
}

/// What is not decoding is given code, the same on every rank: it is not part of what the rank is measured for.
/// Inputs: "input.picture" and "input.latent", whole; "weight.<name>"; the numbers of a config.
/// Results: "latent" of the picture; "picture" of the latent; "z", the latent as it is afterwards.
TensorMap autoencoder_call(Communicator& comm, const CaseInputs& inputs) {
  const c10::NoGradGuard no_grad;
  const auto uncounted = [](const auto& given) {
    const UnchargedScope held;
    const UncountedWork done;
    return given();
  };
  const auto picture = [&](const char* name) { return inputs.tensor(name).clone(at::MemoryFormat::ChannelsLast); };
  const ParallelAutoEncoder model = uncounted([&] { return make_model(inputs, comm); });
  const at::Tensor latent = uncounted([&] { return model.encode(picture("input.picture")); });
  const at::Tensor z = picture("input.latent");
  return {{"latent", latent}, {"picture", model.decode(z)}, {"z", z}};
}

using Attention = std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)>;

Attention attention_among(Communicator& comm, const CaseInputs& inputs, const std::vector<std::int64_t>& lengths) {
  const bool by_ring = inputs.integer("by_ring") != 0;
  return [=, &comm](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    return by_ring ? ring_attention(q, k, v, lengths, comm.point_to_point())
                   : ulysses_attention(q, k, v, lengths, comm.collectives());
  };
}

/// All ranks but the last attend among themselves, on as many heads for each of them as there are ranks in `comm`: who
/// counts calls, such as for a tag, has counted more on some ranks than on others.
void attend_in_subgroup(Communicator& comm, const CaseInputs& inputs, std::vector<std::int64_t> lengths) {
  const int size = comm.size() - 1;
  if (comm.rank() == size) return;
  const c10::NoGradGuard no_grad;
  const UnchargedScope held;
  const UncountedWork done;
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  Communicator group = comm.subgroup(ranks);
  lengths.pop_back();
  const auto heads = [&](const char* name) {
    return inputs.tensor(name).narrow(1, 0, 1).repeat({1, size * comm.size(), 1, 1});
  };
  attention_among(group, inputs, lengths)(heads("input.q"), heads("input.k"), heads("input.v"));
}

/// Inputs: "input.q", "input.k", "input.v", this rank's positions; "input.lengths" of all ranks; "input.grad_out" for
/// gradients.
/// Number "twice_in_one_graph": before the backward pass, attends with q, k and v in other roles, and goes backward
/// from both. Number "after_subgroup": as attend_in_subgroup() before.
/// Results: "out", and "q", "k" and "v" as they are afterwards; with gradients "q.grad", "k.grad" and "v.grad";
/// "other_out" of the second attention.
/// Errors    ResultError: out shares memory with an input
TensorMap attention_call(Communicator& comm, const CaseInputs& inputs) {
  const bool with_gradient = inputs.tensors.count("input.grad_out") != 0;
  const c10::AutoGradMode grad_mode(with_gradient);
  TensorMap leaves;
  for (const char* name : {"q", "k", "v"})
    leaves[name] = inputs.tensor(fmt::format("input.{}", name)).clone().requires_grad_(with_gradient);
  const at::Tensor &q = leaves.at("q"), &k = leaves.at("k"), &v = leaves.at("v");
  const std::vector<std::int64_t> lengths = integers(inputs, "input.lengths");
  if (inputs.numbers.count("after_subgroup") != 0) attend_in_subgroup(comm, inputs, lengths);
  const Attention attend = attention_among(comm, inputs, lengths);
  const at::Tensor out = attend(q, k, v);
  const at::Tensor other = inputs.numbers.count("twice_in_one_graph") != 0 ? attend(k, v, q) : at::Tensor();
  TensorMap results = {{"out", with_gradient ? out.detach().clone() : out.detach()}};  // as in module_call()
  if (other.defined()) results["other_out"] = other.detach();
  for (const auto& [name, leaf] : leaves) {
    if (out.numel() > 0 && out.is_alias_of(leaf))
      throw ResultError(fmt::format("expected a new tensor, got one that shares memory with {}", name));
    results[name] = leaf.detach();
  }
  if (!with_gradient) return results;
  for (const at::Tensor& each : {out, other}) {
    if (each.defined() && each.requires_grad()) each.backward(inputs.tensor("input.grad_out"));
  }
  for (const auto& [name, leaf] : leaves) results[name + ".grad"] = leaf.grad();
  return results;
}

template <class Module>
ShardFunction make_forward(Module module) {
  return [module = std::move(module)](WidthShard x) { return module.forward(std::move(x)); };
}

ShardFunction make_module(const Weights& weights, const CaseInputs& inputs, Communicator& comm) {
  switch (find_module_kind(inputs)) {
    case ModuleKind::kConv2d: return make_forward(ParallelConv2d(weights, make_conv_options(inputs), comm));
    case ModuleKind::kGroupNorm:
      return make_forward(ParallelGroupNorm(weights, inputs.integer("channels"), comm, inputs.integer("groups")));
    case ModuleKind::kUpsample: return make_forward(ParallelUpsample(weights, inputs.integer("channels"), comm));
    case ModuleKind::kAttnBlock:
      return make_forward(ParallelAttnBlock(weights, inputs.integer("channels"), inputs.integer("heads"), comm));
    case ModuleKind::kResnetBlock:
      return make_forward(
          ParallelResnetBlock(weights, inputs.integer("in_channels"), inputs.integer("out_channels"), comm));
    case ModuleKind::kDecoder: break;
  }
  return make_forward(ParallelDecoder(weights, make_config(inputs), comm));
}

constexpr std::int64_t kMiB = 1 << 20;

at::Tensor make(std::int64_t mib, at::Device device) {
  return at::empty({mib * kMiB}, at::TensorOptions(at::kByte).device(device));
}

/// Holds first + second MiB at once, later `third` alone.
void hold(std::int64_t first, std::int64_t second, std::int64_t third, at::Device device) {
  { const at::Tensor one = make(first, device), other = make(second, device); }
  make(third, device);
}

/// "bytes": the result for each piece of work, and for none; "num_runs" of all of them. "input.mib" [3, 3] has a row of
/// what to hold() for each.
TensorMap memory_call(Communicator&, const CaseInputs& inputs) {
  const at::Device device = inputs.device;
  const std::vector<std::int64_t> mib = integers(inputs, "input.mib");
  std::int64_t num_runs = 0;
  const auto peak_of_row = [&](std::size_t row) {
    const auto work = [&] {
      ++num_runs;
      hold(mib[3 * row], mib[3 * row + 1], mib[3 * row + 2], device);
    };
    return peak_bytes_of(work, device);
  };
  std::vector<std::int64_t> bytes = {peak_of_row(0), peak_of_row(1)};
  const at::Tensor held_before = make(6, device);
  bytes.push_back(peak_of_row(2));
  bytes.push_back(peak_bytes_of([&] { ++num_runs; }, device));
  return {{"bytes", at::tensor(bytes, at::kLong)}, {"num_runs", at::tensor(num_runs, at::kLong)}};
}

}  // namespace

CallTable calls() {
  const TaskCall module = module_call(make_module);
  return {{"vae.conv2d", module},
          {"vae.conv2d_halo", module},
          {"vae.conv2d_overlap", module},
          {"vae.conv2d_gradient", module},
          {"vae.group_norm", module},
          {"vae.group_norm_moments", module},
          {"vae.group_norm_gradient", module},
          {"vae.upsample", module},
          {"vae.ulysses", attention_call},
          {"vae.ulysses_messages", attention_call},
          {"vae.ring_attention", attention_call},
          {"vae.ring_messages", attention_call},
          {"vae.attention_gradient", attention_call},
          {"vae.attn_block", module},
          {"vae.resnet_block", module},
          {"vae.decoder", module},
          {"vae.decoder_gathers_nothing", module},
          {"vae.decoder_gradient", module},
          {"vae.autoencoder", autoencoder_call},
          {"vae.memory", memory_call}};
}

}  // namespace lab::vae
