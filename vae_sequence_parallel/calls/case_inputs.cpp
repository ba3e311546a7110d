#include "vae_sequence_parallel/calls/case_inputs.h"

#include <fmt/format.h>

namespace lab::vae {
namespace {

double as_number(std::int64_t integer) {
  return static_cast<double>(integer);
}

}  // namespace

ModuleKind find_module_kind(const CaseInputs& inputs) {
  return static_cast<ModuleKind>(inputs.integer("module"));
}

Conv2dOptions make_conv_options(const CaseInputs& inputs) {
  return {inputs.integer("in_channels"), inputs.integer("out_channels"), inputs.integer("kernel"),
          inputs.integer("stride"), inputs.integer("padding")};
}

std::map<std::string, double> read_numbers(const AutoEncoderConfig& config) {
  std::map<std::string, double> numbers = {
      {"channels", as_number(config.channels)},      {"num_res_blocks", as_number(config.num_res_blocks)},
      {"z_channels", as_number(config.z_channels)},  {"scale_factor", config.scale_factor},
      {"shift_factor", config.shift_factor},         {"num_heads", as_number(config.num_heads)},
      {"num_levels", as_number(config.num_levels())}};
  for (std::int64_t level = 0; level < config.num_levels(); ++level)
    numbers[fmt::format("channels_of_level{}", level)] = as_number(config.channels_of_level(level));
  return numbers;
}

AutoEncoderConfig make_config(const CaseInputs& inputs) {
  AutoEncoderConfig config;
  config.channels = inputs.integer("channels");
  config.num_res_blocks = inputs.integer("num_res_blocks");
  config.z_channels = inputs.integer("z_channels");
  config.scale_factor = inputs.number("scale_factor");
  config.shift_factor = inputs.number("shift_factor");
  config.num_heads = inputs.integer("num_heads");
  config.channel_multipliers.clear();
  for (std::int64_t level = 0; level < inputs.integer("num_levels"); ++level)
    config.channel_multipliers.push_back(inputs.integer(fmt::format("channels_of_level{}", level)) / config.channels);
  return config;
}

TensorMap read_weights(const CaseInputs& inputs) {
  const std::string prefix = "weight.";
  TensorMap weights;
  for (const auto& [name, tensor] : inputs.tensors) {
    if (name.rfind(prefix, 0) == 0) weights[name.substr(prefix.size())] = tensor;
  }
  return weights;
}

std::vector<std::int64_t> integers(const CaseInputs& inputs, const std::string& name) {
  const at::Tensor numbers = inputs.tensor(name).cpu().contiguous();
  return {numbers.data_ptr<std::int64_t>(), numbers.data_ptr<std::int64_t>() + numbers.numel()};
}

}  // namespace lab::vae
