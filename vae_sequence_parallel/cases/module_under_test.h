#pragma once

#include <functional>
#include <map>
#include <string>

#include "common/checks/case.h"
#include "vae_sequence_parallel/cases/picture_cost.h"

namespace lab::vae {

enum class ModuleKind { kConv2d, kGroupNorm, kUpsample, kAttnBlock, kResnetBlock, kDecoder };

/// A serial module, the cost of the parallel one, and the numbers that a call needs to make the parallel one.
struct ModuleUnderTest {
  std::function<std::function<at::Tensor(at::Tensor)>(const Weights&)> serial;  ///< makes it
  std::function<PictureCost(PictureCost)> cost;
  std::int64_t in_channels = 0;
  std::map<std::string, double> numbers;
};

ModuleUnderTest conv2d_under_test(const Conv2dOptions& options);
ModuleUnderTest group_norm_under_test(std::int64_t channels, std::int64_t groups);
ModuleUnderTest upsample_under_test(std::int64_t channels);
ModuleUnderTest attn_block_under_test(std::int64_t channels, std::int64_t heads);
ModuleUnderTest resnet_block_under_test(std::int64_t in_channels, std::int64_t out_channels);
ModuleUnderTest decoder_under_test(const AutoEncoderConfig& config);

/// The inverse, from a case's numbers.
ModuleKind module_kind_of(const CaseInputs& inputs);
Conv2dOptions conv_options_of(const CaseInputs& inputs);
std::map<std::string, double> numbers_of(const AutoEncoderConfig& config);
AutoEncoderConfig config_of(const CaseInputs& inputs);

}  // namespace lab::vae
