#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>

#include "common/comm/lone_work.h"

namespace lab {
struct RankRun;
}

namespace lab::vae {

/// The options of a reconstruction.
struct StepOptions {
  std::string image;                 ///< --image: a PNG or JPEG; empty: a generated picture
  std::int64_t size = 256;           ///< --size: the side of the generated picture, pixels
  std::uint64_t seed = 2;            ///< of the generated picture
  std::string checkpoint;            ///< --checkpoint
  std::int64_t memory_limit_mb = 0;  ///< --memory-limit: of the tensors that decoding makes, 10^6 bytes; 0: none
  std::string out_dir = "out";
};

/// The checkpoint that the lab comes with.
std::string default_checkpoint();

// The steps before the parallel one, in one process with all cores. Each returns a message that says what it did, and
// calls `report` after every operation and in the middle of long ones. Files are replaced atomically.
// Errors    UsageError: a picture, a checkpoint or a file of the previous step that is missing or unusable; a file that
//           cannot be written

/// Encodes the picture: writes picture.png, latent_code.pt and latent_code.safetensors.
std::string encode_step(const StepOptions& options, const comm::ReportProgress& report = {});

/// Decodes the latent with the serial decoder: writes reconstructed_baseline.jpg and .safetensors.
std::string baseline_step(const StepOptions& options, const comm::ReportProgress& report = {});

/// What `decode` returns, or why it holds more than the options allow.
/// Errors    UsageError: more than the limit
at::Tensor decoded_within_limit(const StepOptions& options, const std::string& who,
                                const std::function<at::Tensor()>& decode);

/// The test step: all ranks decode the latent together, and each compares the picture with the baseline's. Each rank
/// prints a match line and its peak activation memory next to that of one process; rank 0 writes
/// reconstructed_parallel.jpg and .safetensors and compares the samples of the two JPEGs.
/// Call      collective; rank 0 reads the files of the previous steps, the others only the checkpoint
void reconstruct(RankRun& run, const StepOptions& options);

/// Checks that every rank gets a column of the latent.
/// Errors    UsageError: fewer columns than ranks
void require_width(std::int64_t latent_width, int num_ranks);

/// The width of the latent that encode_step() would make, without making it.
std::int64_t latent_width(const StepOptions& options);

}  // namespace lab::vae
