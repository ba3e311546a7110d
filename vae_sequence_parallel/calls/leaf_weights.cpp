#include "vae_sequence_parallel/calls/leaf_weights.h"

namespace lab::vae {
namespace {

bool is_bias_of_keys(const std::string& name) {
  const std::string suffix = ".k.bias", alone = "k.bias";
  return name == alone ||
         (name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0);
}

}  // namespace

at::Tensor LeafWeights::get(const std::string& name, at::IntArrayRef shape) {
  const at::Tensor found = source_.get(name, shape);
  if (found.is_meta()) return found;  // missing: reported later by CheckpointWeights::finish()
  return leaves_[name] = found.detach().clone().to(device_).requires_grad_();
}

TensorMap LeafWeights::gradients() const {
  TensorMap gradients;
  for (const auto& [name, leaf] : leaves_) {
    if (is_bias_of_keys(name)) continue;
    gradients[name + ".grad"] = leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf);
  }
  return gradients;
}

}  // namespace lab::vae
