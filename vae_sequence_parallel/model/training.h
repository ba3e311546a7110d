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
  /// Of the square pictures, pixels; each step takes the next one. What a norm and attention do depends on the size of
  /// the picture: a network that has only seen small ones is worse on large ones.
  std::vector<std::int64_t> sides = {64};
  double learning_rate = 2e-3;           ///< Adam's, at its highest; from there it falls as a cosine
  std::int64_t num_warm_up_steps = 200;  ///< until it is at its highest
  std::uint64_t seed = 42;
};

/// A trained model: its parameters, and its config with the scale and shift that make latents about standard normal.
struct TrainedModel {
  AutoEncoderConfig config;
  TensorMap parameters;
};

/// Trains an autoencoder to give back generated pictures: mean squared error of the picture that is decoded from the
/// latent's mean, Adam. The log-variance is left untrained: nothing here draws from it.
/// Call      local; `first`: parameters to begin with, empty: seeded ones. `on_step` is told the number of steps done
///           and the step's mean squared error
/// Order     the same options, threads and library give the same model
/// Errors    UsageError: `first` does not fit the config; the loss is no longer finite, with the step
TrainedModel train(AutoEncoderConfig config, const TrainingOptions& options, const TensorMap& first,
                   const std::function<void(std::int64_t step, double loss)>& on_step);

}  // namespace lab::vae
