#pragma once

#include <cstdint>
#include <string>

#include "common/comm/lone_work.h"

namespace lab::vae {

/// What a reconstruction is told.
struct StepOptions {
  std::string image;        ///< --image: a PNG or JPEG; empty: a picture of our own
  std::int64_t size = 256;  ///< --size: the side of our own picture, pixels
  std::uint64_t seed = 2;   ///< of our own picture
  std::string checkpoint;   ///< --checkpoint
  std::string out_dir = "out";
};

/// The checkpoint that the lab comes with.
std::string default_checkpoint();

// The steps before the parallel one, in one process with all its cores. Each returns a message on what it did, and
// calls `report` after every operation and in the middle of long ones.
// Errors    UsageError: a picture, a checkpoint or a file of the step before that is missing or cannot be used; a file
//           that cannot be written. Complete files only; what stood under a name stays until the new one is complete

/// Encodes the picture: leaves picture.png, latent_code.pt and latent_code.safetensors.
std::string encode_step(const StepOptions& options, const ReportProgress& report = {});

/// Decodes the latent with the serial decoder: leaves reconstructed_baseline.jpg and .safetensors.
std::string baseline_step(const StepOptions& options, const ReportProgress& report = {});

/// Returns if every rank gets a column of the latent.
/// Errors    UsageError
void require_width(std::int64_t latent_width, int num_ranks);

/// The width of the latent that encode_step() would make, without making it.
std::int64_t latent_width(const StepOptions& options);

}  // namespace lab::vae
