#pragma once

#include <cstdint>

#include "common/tensor/tensor_map.h"
#include "vae_sequence_parallel/weights.h"

namespace lab::vae {

/// Makes every parameter that is asked for, and keeps it unless told not to: convolutions as PyTorch fills them, biases likewise, norms
/// with 1 and 0; a bias that has no module's name before it (of a module tried by itself) with 1. A parameter depends
/// on the seed and its name only. With `spread`, what is not a convolution's gets values around those, so that one that
/// was left out, or another's, is seen.
class SeededWeights : public WeightSource {
 public:
  explicit SeededWeights(std::uint64_t seed, at::ScalarType dtype = at::kFloat, double spread = 0)
      : seed_(seed), dtype_(dtype), spread_(spread) {}

  at::Tensor get(const std::string& name, at::IntArrayRef shape) override;

  /// What was asked for so far; shares the parameters' memory, unless those have channels last.
  const TensorMap& made() const { return made_; }

  /// Keeps nothing of what it makes: for a model whose memory is measured.
  void keep_none() { keeps_ = false; }

 private:
  std::uint64_t seed_;
  at::ScalarType dtype_;
  double spread_;
  bool keeps_ = true;
  TensorMap made_;
  std::map<std::string, std::int64_t> fan_in_;  ///< of each convolution so far, which its bias needs
};

}  // namespace lab::vae
