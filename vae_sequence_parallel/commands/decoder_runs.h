#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "vae_sequence_parallel/model/config.h"

// Decodes a seeded latent with seeded parameters, in separate processes of one thread each, to measure the memory.
namespace lab::vae {

struct DecoderRun {
  AutoEncoderConfig config;
  std::int64_t height = 256, width = 256;  ///< of the picture that is decoded
  int num_ranks = 1;
  bool serial = false;  ///< the serial decoder, on one rank
  int num_gpus = 0;     ///< that the ranks use
};

struct DecoderCost {
  std::int64_t parameter_bytes = 0;   ///< per rank; the same on all
  std::int64_t activation_bytes = 0;  ///< peak, on the rank with the highest
};

/// Bytes are read from the memory meter, or from the GPU's allocator.
/// Errors    UsageError: sides that are not multiples of the config's downsampling(), a latent narrower than the number
///           of ranks; those of the ranks
DecoderCost run_decoder(const DecoderRun& run);

}  // namespace lab::vae
