#pragma once

#include <string>
#include <vector>

#include "common/api/tensor_map.h"
#include "vae_sequence_parallel/model/config.h"
#include "vae_sequence_parallel/weights.h"

namespace lab::vae {

/// The parameters of a .safetensors file. The file is mapped, and each tensor is copied out of it once, with the dtype,
/// device and memory format that layers expect; tensors that are not requested are never read.
class CheckpointWeights : public WeightSource {
 public:
  /// Errors    UsageError: not a safetensors file, or an invalid config in its metadata
  explicit CheckpointWeights(const std::string& path, at::TensorOptions options = at::kFloat);

  /// The same for tensors in memory; error messages name `where`.
  CheckpointWeights(TensorMap tensors, std::string where, at::TensorOptions options = at::kFloat);

  /// The config from the metadata; FLUX.1's if there is none.
  const AutoEncoderConfig& config() const { return config_; }

  /// For a missing tensor or one with another shape, records that and returns a meta tensor, without memory: the shape
  /// comes from the file's config and may be of any size.
  at::Tensor get(const std::string& name, at::IntArrayRef shape) override;

  /// Call      once the model is constructed
  /// Errors    UsageError: tensors that are missing, unexpected, of another shape or not floating-point
  void finish() const;

 private:
  const std::string where_;
  const at::TensorOptions options_;  ///< dtype and device of returned tensors
  AutoEncoderConfig config_;
  TensorMap tensors_;  ///< not requested yet
  std::vector<std::string> missing_, wrong_;
  std::size_t num_asked_ = 0;
};

/// Loads a whole model from a checkpoint.
/// Errors    UsageError: those of CheckpointWeights; a tensor of the model that is missing or has another shape, or a
///           tensor of the file that is not part of the model
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

/// A hash that identifies a checkpoint file, in hexadecimal.
std::string checkpoint_digest(const std::string& path);

/// Writes the parameters with their config, in the dtype given.
void save_checkpoint(const std::string& path, const TensorMap& parameters, const AutoEncoderConfig& config,
                     at::ScalarType dtype);

}  // namespace lab::vae
