#include "vae_sequence_parallel/cases/module_under_test.h"

#include "vae_sequence_parallel/calls/case_inputs.h"
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

}  // namespace lab::vae
