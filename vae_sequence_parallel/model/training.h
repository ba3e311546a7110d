#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/tensor/tensor_map.h"
#include "vae_sequence_parallel/model/config.h"

namespace lab::vae {

struct TrainingOptions {
  std::int64_t num_steps = 6000;
  std::int64_t batch_size = 8;
  /// Sides of the square pictures, pixels; each step takes the next one. Norms and attention depend on the size of the
  /// picture: a network trained only on small ones is worse on large ones.
  std::vector<std::int64_t> sides = {64};
  double learning_rate = 2e-3;           ///< Adam's peak learning rate, followed by cosine decay
  std::int64_t num_warm_up_steps = 200;  ///< until the peak
  std::uint64_t seed = 42;
};

/// A trained model: its parameters, and its config, whose scale and shift make latents about standard normal.
struct TrainedModel {
  AutoEncoderConfig config;
  TensorMap parameters;
};

/// Trains an autoencoder to reconstruct generated pictures: mean squared error of the picture decoded from the latent's
/// mean, Adam. The log-variance is not trained: nothing here samples from it.
/// Call      local; `first`: initial parameters, empty: seeded ones. `on_step` gets the number of steps done and the
///           step's mean squared error
/// Order     the same options, threads and library give the same model
/// Errors    UsageError: `first` does not fit the config; the loss is not finite, with the step
TrainedModel train(AutoEncoderConfig config, const TrainingOptions& options, const TensorMap& first,
                   const std::function<void(std::int64_t step, double loss)>& on_step);

}  // namespace lab::vae
