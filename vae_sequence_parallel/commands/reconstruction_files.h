#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "vae_sequence_parallel/model/config.h"

// The files that the steps encode, baseline and test write for each other and for the user.
namespace lab::vae {

/// The file names in one folder.
struct ReconstructionFiles {
  explicit ReconstructionFiles(const std::string& folder);

  std::string picture;       ///< picture.png: the encoded picture
  std::string latent_pt;     ///< latent_code.pt, for Python's torch.load; later steps read this one
  std::string latent;        ///< latent_code.safetensors: the same, and the picture's size
  std::string baseline_jpg;  ///< reconstructed_baseline.jpg
  std::string baseline;      ///< reconstructed_baseline.safetensors: the same before rounding, and its latent
  std::string parallel_jpg;  ///< reconstructed_parallel.jpg
  std::string parallel;      ///< reconstructed_parallel.safetensors: the same before rounding
};

/// A latent and the size of its picture, for which the latent's size is only a bound.
struct Latent {
  at::Tensor z;  ///< float32 [1, z_channels, h, w]
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::string checkpoint_digest;  ///< of the checkpoint that encoded it; empty: unknown
};

void save_latent(const ReconstructionFiles& files, const Latent& latent);

/// Checks that the latent may be decoded with this checkpoint: it is the one that encoded it, or that one is unknown.
/// Errors    UsageError: another checkpoint encoded it
void require_checkpoint(const Latent& latent, const std::string& digest, const ReconstructionFiles& files,
                        const std::string& checkpoint);

/// The latent in latent_code.pt, which may also have been written by Python; then the picture is as large as the latent
/// allows.
/// Errors    UsageError: no such file ("run encode first"), unreadable, not a latent of this config
Latent load_latent(const ReconstructionFiles& files, const AutoEncoderConfig& config);

/// The serial decoder's output for a latent.
struct Baseline {
  at::Tensor image;                        ///< float32 [1, 3, H, W], before cropping and rounding
  std::int64_t peak_activation_bytes = 0;  ///< by the memory meter
  std::int64_t flops = 0;                  ///< by the work meter
};

/// `checkpoint_digest`: of the checkpoint that decoded it.
void save_baseline(const ReconstructionFiles& files, const Latent& latent, const Baseline& baseline,
                   const std::string& checkpoint_digest);

/// Errors    UsageError: no such file ("run baseline first"), unreadable, of another latent, or decoded with another
///           checkpoint
Baseline load_baseline(const ReconstructionFiles& files, const Latent& latent, const std::string& checkpoint_digest);

}  // namespace lab::vae
