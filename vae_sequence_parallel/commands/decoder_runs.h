#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "vae_sequence_parallel/model/config.h"

// Decodes a seeded latent with seeded parameters, in separate processes, to measure the cost.
namespace lab::vae {

struct DecoderRun {
  AutoEncoderConfig config;
  std::int64_t height = 256, width = 256;  ///< of the picture that is decoded
  int num_ranks = 1;
  bool serial = false;       ///< the serial decoder, on one rank
  int num_gpus = 0;          ///< that the ranks use
  int threads_per_rank = 1;  ///< within an operation
  int num_turns = 1;         ///< timed; if there are several, after an untimed one
  double timeout_seconds = 900;
};

struct DecoderCost {
  std::int64_t parameter_bytes = 0;   ///< per rank; the same on all
  std::int64_t activation_bytes = 0;  ///< peak, on the rank with the highest
  std::int64_t resident_bytes = 0;    ///< by how much the process of rank 0 was larger during a single turn than before
  double checksum = 0;                ///< of a serial decoder's picture: the mean of its absolute values
  std::vector<double> seconds;        ///< of each turn, from a barrier to the end of the last rank
};

/// Bytes are read from the memory meter, or from the GPU's allocator.
/// Errors    UsageError: sides that are not multiples of the config's downsampling(), a latent narrower than the number
///           of ranks; those of the ranks
DecoderCost run_decoder(const DecoderRun& run);

}  // namespace lab::vae
