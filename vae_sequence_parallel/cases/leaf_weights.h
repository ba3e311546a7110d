#pragma once

#include "common/tensor/tensor_map.h"
#include "vae_sequence_parallel/weights.h"

namespace lab::vae {

/// Another source's parameters, as leaves that collect gradients, on a device.
/// Aliasing  leaves are new
class LeafWeights : public WeightSource {
 public:
  explicit LeafWeights(WeightSource& source, at::Device device = at::kCPU) : source_(source), device_(device) {}

  at::Tensor get(const std::string& name, at::IntArrayRef shape) override;

  /// What backward() left, under "<name>.grad", zeros where nothing arrived. Without the biases of keys: they move all
  /// scores of a query alike, so their gradients are 0, and what is found there is rounding.
  TensorMap gradients() const;

 private:
  WeightSource& source_;
  const at::Device device_;
  TensorMap leaves_;
};

}  // namespace lab::vae
