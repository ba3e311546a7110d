#pragma once

#include <cstdint>

#include "common/api/tensor_map.h"
#include "vae_sequence_parallel/weights.h"

namespace lab::vae {

/// Makes every parameter that is requested, and keeps it unless told not to: convolutions and their biases with
/// PyTorch's default initialisation, norms with 1 and 0; a bias without a module name before it (of a module tested
/// alone) with 1. A parameter depends only on the seed and its name. With `spread`, parameters other than those of
/// convolutions get random values around these, so that a parameter that is unused, or is another's, shows.
class SeededWeights : public WeightSource {
 public:
  explicit SeededWeights(std::uint64_t seed, at::ScalarType dtype = at::kFloat, double spread = 0)
      : seed_(seed), dtype_(dtype), spread_(spread) {}

  at::Tensor get(const std::string& name, at::IntArrayRef shape) override;

  /// All parameters made so far; shares the parameters' memory, unless those have channels last.
  const TensorMap& made() const { return made_; }

  /// Do not keep parameters: for a model whose memory is measured.
  void keep_none() { keeps_ = false; }

 private:
  std::uint64_t seed_;
  at::ScalarType dtype_;
  double spread_;
  bool keeps_ = true;
  TensorMap made_;
  std::map<std::string, std::int64_t> fan_in_;  ///< of each convolution so far, needed for its bias
};

}  // namespace lab::vae
