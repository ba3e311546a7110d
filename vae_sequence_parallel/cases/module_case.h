#pragma once

#include <functional>
#include <map>
#include <string>

#include "vae_sequence_parallel/cases/case_pictures.h"
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

// A case for any module that takes a picture: the serial module gives the expected output, its cost the traffic.
namespace lab::vae {

/// Inputs and results as in module_call(); the expected ones from the serial module in float64.
struct ModuleCase {
  std::string task, name;
  ModuleUnderTest module;
  PictureSetup picture;               ///< its channels are those of the module
  bool with_gradient = false;         ///< "input.grad_out" and the gradients as well
  bool costed = false;                ///< checked against its cost bounds and, without gradients, for what it holds
  std::int64_t flops_per_value = 40;  ///< see most_work()
  CostBounds costs_of_call = {};      ///< what module_call() sends itself, but for sums of gradients
  bool in_float64 = true;             ///< false: compare in float32, if the module's own error is near the tolerance
};
Case make_case(ModuleCase test_case);

/// The cost of the case's module on a rank.
PictureCost compute_cost(const ModuleCase& test_case, const CasePlace& place);

/// The same by a module that had a wider picture before: "after_wider" is 1.
Case after_wider(const Case& test_case);

/// The same on the even ranks and, at the same time, on the odd ranks: "every_other_rank" is 1.
Case every_other_rank(const Case& test_case);

}  // namespace lab::vae
