#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "vae_sequence_parallel/model/config.h"

// Decodings of a seeded latent with seeded parameters, in processes of their own, to measure what they cost.
namespace lab::vae {

struct DecoderRun {
  AutoEncoderConfig config;
  std::int64_t height = 256, width = 256;  ///< of the picture that is decoded
  int num_ranks = 1;
  bool serial = false;       ///< the serial decoder, on one rank
  bool on_gpu = false;       ///< ranks take the machine's GPUs in turn
  int threads_per_rank = 1;  ///< inside an operation
  int num_turns = 1;         ///< that are timed, after one that is not if there are several
  double timeout_seconds = 900;
};

struct DecoderCost {
  std::int64_t parameter_bytes = 0;   ///< of a rank; alike on all
  std::int64_t activation_bytes = 0;  ///< held at once, on the rank that held most
  std::vector<double> seconds;        ///< of each turn, from a barrier to the end of the last rank
};

/// Bytes are read from the memory meter, or from the GPU's allocator.
/// Errors    UsageError: a size that the config does not divide, a latent narrower than there are ranks; those of the
///           ranks
DecoderCost run_decoder(const DecoderRun& run);

}  // namespace lab::vae
