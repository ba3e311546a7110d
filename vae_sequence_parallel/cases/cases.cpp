#include "vae_sequence_parallel/cases/cases.h"

#include <c10/core/GradMode.h>

#include <algorithm>

#include "vae_sequence_parallel/cases/leaf_weights.h"
#include "vae_sequence_parallel/cases/module_call.h"
#include "vae_sequence_parallel/cases/module_under_test.h"
#include "vae_sequence_parallel/cases/reconstruction_lines.h"
#include "vae_sequence_parallel/model/checkpoint.h"
#include "vae_sequence_parallel/parallel_autoencoder.h"
#include "vae_sequence_parallel/sequence_attention.h"

namespace lab::vae {
namespace {

template <class Module>
ShardFunction forward_of(Module module) {
  return [module = std::move(module)](WidthShard x) { return module.forward(std::move(x)); };
}

ShardFunction make_module(const Weights& weights, const CaseInputs& inputs, Communicator& comm) {
  switch (module_kind_of(inputs)) {
    case ModuleKind::kConv2d: return forward_of(ParallelConv2d(weights, conv_options_of(inputs), comm));
    case ModuleKind::kGroupNorm:
      return forward_of(ParallelGroupNorm(weights, inputs.integer("channels"), comm, inputs.integer("groups")));
    case ModuleKind::kUpsample: return forward_of(ParallelUpsample(weights, inputs.integer("channels"), comm));
    case ModuleKind::kAttnBlock:
      return forward_of(ParallelAttnBlock(weights, inputs.integer("channels"), inputs.integer("heads"), comm));
    case ModuleKind::kResnetBlock:
      return forward_of(
          ParallelResnetBlock(weights, inputs.integer("in_channels"), inputs.integer("out_channels"), comm));
    case ModuleKind::kDecoder: break;
  }
  return forward_of(ParallelDecoder(weights, config_of(inputs), comm));
}

TensorMap attention_call(Communicator& comm, const CaseInputs& inputs) {
  const bool with_gradient = inputs.tensors.count("input.grad_out") != 0;
  const c10::AutoGradMode grad_mode(with_gradient);
  const std::vector<std::int64_t> lengths = integers(inputs, "input.lengths");
  const auto leaf = [&](const char* name) { return inputs.tensor(name).clone().requires_grad_(with_gradient); };
  const at::Tensor q = leaf("input.q"), k = leaf("input.k"), v = leaf("input.v");
  const at::Tensor out = inputs.integer("by_ring") != 0 ? ring_attention(q, k, v, lengths, comm.point_to_point())
                                                        : ulysses_attention(q, k, v, lengths, comm.collectives());
  TensorMap results = {{"out", out.detach()}};
  if (!with_gradient) return results;
  if (out.requires_grad()) out.backward(inputs.tensor("input.grad_out"));
  results["q.grad"] = q.grad();
  results["k.grad"] = k.grad();
  results["v.grad"] = v.grad();
  return results;
}

TensorMap autoencoder_call(Communicator& comm, const CaseInputs& inputs) {
  const c10::NoGradGuard no_grad;
  const at::Tensor& latent = inputs.tensor("input.latent");
  CheckpointWeights source(weights_of(inputs), "the serial module's parameters", latent.scalar_type());
  LeafWeights on_device(source, inputs.device);
  const ParallelAutoEncoder model(Weights(on_device), config_of(inputs), comm);
  source.finish();
  return {{"latent", model.encode(inputs.tensor("input.picture"))}, {"picture", model.decode(latent)}};
}

std::vector<Case> joined(std::vector<Case> cases, const std::vector<Case>& more) {
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

LabStep reconstruction(const StepBody& reconstruct) {
  LabStep step;
  step.run = reconstruct;
  step.expect = [](log::LogExpectation& log) {
    log.add(0, log::rank_text(kPictureLine));
    log.add(0, log::rank_text(kPsnrLine));
    log.add_on_every_rank(log::ExpectedMatch{kReconstruction, true, 1e-3, "", ""});
    log.add_on_every_rank(log::rank_text(kPeakLine));
    log.add(0, log::rank_text(kSamplesLine));
    log.add(0, log::ExpectedMatch{kJpegs, true, 1, "", ""});
  };
  return step;
}

}  // namespace

CallTable calls() {
  const TaskCall module = module_call(make_module);
  return {{"vae.conv2d", module},
          {"vae.conv2d_halo", module},
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

std::vector<ModuleSection> module_sections() {
  return {
      {"conv2d",
       {"ParallelConv2d: each rank has some columns; the neighbours' borders come by message.", conv_cases()}},
      {"groupnorm",
       {"ParallelGroupNorm: the statistics of all columns, from the moments of each rank's.", norm_cases()}},
      {"upsample", {"ParallelUpsample: every rank keeps its columns, twice as many.", upsample_cases()}},
      {"attn_block", {"Attention among the positions of all ranks, by all-to-all and by a ring.", attention_cases()}},
      {"attn_block", {"ParallelAttnBlock: norm, attention, and what is added to them.", attn_block_cases()}},
      {"decoder", {"ParallelResnetBlock: norms and convolutions in a row.", resnet_block_cases()}},
      {"decoder",
       {"ParallelDecoder and ParallelAutoEncoder, on a small model.", joined(decoder_cases(), autoencoder_cases())}},
      {"decoder",
       {"What modules that are made of others send: what their layers send, and no more.",
        joined(block_traffic_cases(), decoder_traffic_cases())}},
      {"conv2d", {"Beyond the handout: gradients of ParallelConv2d.", conv_gradient_cases()}},
      {"groupnorm", {"Beyond the handout: gradients of ParallelGroupNorm.", norm_gradient_cases()}},
      {"attn_block", {"Beyond the handout: gradients of attention.", attention_gradient_cases()}},
      {"decoder",
       {"Beyond the handout: gradients of what is made of them.",
        joined(block_gradient_cases(), decoder_gradient_cases())}},
      {"memory", {"The bonus: how much a piece of work held in memory.", memory_cases()}}};
}

std::vector<std::string> module_tags() {
  std::vector<std::string> tags;
  for (const ModuleSection& each : module_sections()) {
    if (std::find(tags.begin(), tags.end(), each.tag) == tags.end()) tags.push_back(each.tag);
  }
  return tags;
}

std::vector<Section> sections(const std::string& only) {
  std::vector<Section> chosen;
  for (const ModuleSection& each : module_sections()) {
    if (only.empty() || each.tag == only) chosen.push_back(each.section);
  }
  return chosen;
}

std::vector<Case> all_cases() {
  return cases_of(sections());
}

std::vector<LabStep> program_steps(const StepBody& serial_steps, const StepBody& reconstruct) {
  return {announcement(), {serial_steps, {}, {}}, checks(sections()), reconstruction(reconstruct), done()};
}

std::vector<LabStep> modules_steps(const std::string& only) {
  return {announcement(), checks(sections(only)), done()};
}

std::vector<LabStep> test_steps(const StepBody& reconstruct) {
  return {announcement(), reconstruction(reconstruct), done()};
}

log::LogExpectation expected_log(int num_ranks) {
  return expectation_of(program_steps({}, {}), num_ranks);
}

GradedLab graded_lab() {
  return {all_cases, expected_log};
}

}  // namespace lab::vae
