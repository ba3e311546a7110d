#pragma once

#include <functional>
#include <map>
#include <string>

#include "vae_sequence_parallel/cases/picture_cost.h"

namespace lab::vae {

/// A serial module, the cost of the parallel one, and the numbers from which a call makes the parallel one.
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

}  // namespace lab::vae
