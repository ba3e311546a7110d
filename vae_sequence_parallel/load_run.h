#pragma once

#include <cstdint>
#include <vector>

#include "vae_sequence_parallel/config.h"

namespace lab::vae {

struct LoadCost {
  std::int64_t file_bytes = 0;
  std::int64_t held_bytes = 0;  ///< by a rank, when the model is there; the mapped file is not counted
  std::vector<double> seconds;  ///< of each turn, until the last rank has its model
};

/// Writes a seeded checkpoint of this size into a temporary file and loads it on several ranks at once, in processes.
LoadCost run_load(const AutoEncoderConfig& config, int num_ranks, int num_turns);

}  // namespace lab::vae
