#pragma once

#include "common/api/tensor_map.h"
#include "vae_sequence_parallel/weights.h"

namespace lab::vae {

/// Another source's parameters, as leaves that collect gradients, on a device.
/// Aliasing  leaves are new
class LeafWeights : public WeightSource {
 public:
  explicit LeafWeights(WeightSource& source, at::Device device = at::kCPU) : source_(source), device_(device) {}

  at::Tensor get(const std::string& name, at::IntArrayRef shape) override;

  /// The gradients after backward(), as "<name>.grad"; zeros if undefined. Without the biases of keys: they shift all
  /// scores of a query equally, so their gradients are 0 up to rounding.
  TensorMap gradients() const;

 private:
  WeightSource& source_;
  const at::Device device_;
  TensorMap leaves_;
};

}  // namespace lab::vae
