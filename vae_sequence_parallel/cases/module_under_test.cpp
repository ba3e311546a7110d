#include "vae_sequence_parallel/cases/module_under_test.h"

#include <fmt/format.h>

#include "vae_sequence_parallel/model/autoencoder.h"
#include "vae_sequence_parallel/model/seeded_weights.h"

namespace lab::vae {
namespace {

/// Serial and Costs are constructed from the same arguments.
template <class Serial, class Costs, class... Arguments>
ModuleUnderTest module_of(ModuleKind kind, std::int64_t in_channels, std::map<std::string, double> numbers,
                          const Arguments&... arguments) {
  ModuleUnderTest module;
  module.in_channels = in_channels;
  module.numbers = std::move(numbers);
  module.numbers["module"] = static_cast<double>(kind);
  module.serial = [=](const Weights& weights) -> std::function<at::Tensor(at::Tensor)> {
    return [made = Serial(weights, arguments...)](at::Tensor x) { return made.forward(std::move(x)); };
  };
  module.cost = [=](PictureCost x) {
    SeededWeights unused(0);
    return Costs(Weights(unused), arguments...).forward(std::move(x));
  };
  return module;
}

double number(std::int64_t whole) {
  return static_cast<double>(whole);
}

}  // namespace

ModuleUnderTest conv2d_under_test(const Conv2dOptions& options) {
  return module_of<Conv2d, Conv2dCost>(ModuleKind::kConv2d, options.in_channels,
                                       {{"in_channels", number(options.in_channels)},
                                        {"out_channels", number(options.out_channels)},
                                        {"kernel", number(options.kernel)},
                                        {"stride", number(options.stride)},
                                        {"padding", number(options.padding)}},
                                       options);
}

ModuleUnderTest group_norm_under_test(std::int64_t channels, std::int64_t groups) {
  return module_of<GroupNorm, GroupNormCost>(
      ModuleKind::kGroupNorm, channels, {{"channels", number(channels)}, {"groups", number(groups)}}, channels, groups);
}

ModuleUnderTest upsample_under_test(std::int64_t channels) {
  return module_of<Upsample, UpsampleCost>(ModuleKind::kUpsample, channels, {{"channels", number(channels)}}, channels);
}

ModuleUnderTest attn_block_under_test(std::int64_t channels, std::int64_t heads) {
  return module_of<AttnBlock, AttnBlockCost>(
      ModuleKind::kAttnBlock, channels, {{"channels", number(channels)}, {"heads", number(heads)}}, channels, heads);
}

ModuleUnderTest resnet_block_under_test(std::int64_t in_channels, std::int64_t out_channels) {
  return module_of<ResnetBlock, ResnetBlockCost>(
      ModuleKind::kResnetBlock, in_channels,
      {{"in_channels", number(in_channels)}, {"out_channels", number(out_channels)}}, in_channels, out_channels);
}

ModuleUnderTest decoder_under_test(const AutoEncoderConfig& config) {
  return module_of<Decoder, DecoderCost>(ModuleKind::kDecoder, config.z_channels, numbers_of(config), config);
}

ModuleKind module_kind_of(const CaseInputs& inputs) {
  return static_cast<ModuleKind>(inputs.integer("module"));
}

Conv2dOptions conv_options_of(const CaseInputs& inputs) {
  return {inputs.integer("in_channels"), inputs.integer("out_channels"), inputs.integer("kernel"),
          inputs.integer("stride"), inputs.integer("padding")};
}

std::map<std::string, double> numbers_of(const AutoEncoderConfig& config) {
  std::map<std::string, double> numbers = {
      {"channels", number(config.channels)},      {"num_res_blocks", number(config.num_res_blocks)},
      {"z_channels", number(config.z_channels)},  {"scale_factor", config.scale_factor},
      {"shift_factor", config.shift_factor},      {"num_heads", number(config.num_heads)},
      {"num_levels", number(config.num_levels())}};
  for (std::int64_t level = 0; level < config.num_levels(); ++level)
    numbers[fmt::format("channels_of_level{}", level)] = number(config.channels_of_level(level));
  return numbers;
}

AutoEncoderConfig config_of(const CaseInputs& inputs) {
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

}  // namespace lab::vae
