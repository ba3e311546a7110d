#pragma once

#include <string>
#include <vector>

#include "common/tensor/tensor_map.h"
#include "vae_sequence_parallel/model/config.h"
#include "vae_sequence_parallel/weights.h"

namespace lab::vae {

/// The parameters of a .safetensors file. It is mapped, and each tensor is copied out of it once, into the dtype,
/// the device and the order in memory that layers want; what is not asked for is never read.
class CheckpointWeights : public WeightSource {
 public:
  /// Errors    UsageError: not a safetensors file, or a config in its metadata that cannot be
  explicit CheckpointWeights(const std::string& path, at::TensorOptions options = at::kFloat);

  /// The same of tensors in memory; `where` is named in messages.
  CheckpointWeights(TensorMap tensors, std::string where, at::TensorOptions options = at::kFloat);

  /// What the metadata say; without any, FLUX.1's.
  const AutoEncoderConfig& config() const { return config_; }

  /// What is missing or has another shape is remembered, and a tensor without values or memory returned: the shape is
  /// what the file's config claims, and may be of any size.
  at::Tensor get(const std::string& name, at::IntArrayRef shape) override;

  /// Call      when the model is made
  /// Errors    UsageError: what was missing, what was not asked for, what had another shape or no floating-point dtype
  void finish() const;

 private:
  const std::string where_;
  const at::TensorOptions options_;  ///< dtype and device of what is handed out
  AutoEncoderConfig config_;
  TensorMap tensors_;  ///< not asked for yet
  std::vector<std::string> missing_, wrong_;
  std::size_t num_asked_ = 0;
};

/// A whole model of a checkpoint.
/// Errors    UsageError: those of CheckpointWeights; none of the file's tensors may be missing, of another shape, or
///           left over
/// Example   load_model<AutoEncoder>("ae.safetensors", at::kCPU, report)
///           load_model<ParallelAutoEncoder>("ae.safetensors", at::kCPU, comm)
template <class Model, class... Where>
Model load_model(const std::string& path, at::Device device, const std::function<void()>& report, Where&... where) {
  CheckpointWeights source(path, at::TensorOptions(at::kFloat).device(device));
  Model model(Weights(source, "", report), source.config(), where...);
  source.finish();
  return model;
}

template <class Model, class... Where>
Model load_model(const std::string& path, at::Device device, Where&... where) {
  return load_model<Model>(path, device, std::function<void()>(), where...);
}

/// A number by which checkpoint files are told apart, in hexadecimal digits.
std::string checkpoint_digest(const std::string& path);

/// Writes the parameters with their config, in the dtype given.
void save_checkpoint(const std::string& path, const TensorMap& parameters, const AutoEncoderConfig& config,
                     at::ScalarType dtype);

}  // namespace lab::vae
