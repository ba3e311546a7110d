#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "vae_sequence_parallel/model/config.h"

// What the steps encode, baseline and test leave for each other and for the user.
namespace lab::vae {

/// The names of the files in one folder.
struct ReconstructionFiles {
  explicit ReconstructionFiles(const std::string& folder);

  std::string picture;       ///< picture.png: what was encoded
  std::string latent_pt;     ///< latent_code.pt, for Python's torch.load; this is the one that is read again
  std::string latent;        ///< latent_code.safetensors: the same, and the picture's size
  std::string baseline_jpg;  ///< reconstructed_baseline.jpg
  std::string baseline;      ///< reconstructed_baseline.safetensors: the same before rounding, and its latent
  std::string parallel_jpg;  ///< reconstructed_parallel.jpg
  std::string parallel;      ///< reconstructed_parallel.safetensors: the same before rounding
};

/// A latent and the size of the picture that it is of, which its own size only bounds.
struct Latent {
  at::Tensor z;  ///< float32 [1, z_channels, h, w]
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::string checkpoint_digest;  ///< of the checkpoint that encoded it; empty: not known
};

void save_latent(const ReconstructionFiles& files, const Latent& latent);

/// Returns if the latent may be decoded with this checkpoint: the one that encoded it, or nobody knows which did.
/// Errors    UsageError
void require_checkpoint(const Latent& latent, const std::string& digest, const ReconstructionFiles& files,
                        const std::string& checkpoint);

/// The latent of latent_code.pt, also where Python wrote that; then the picture is as large as the latent allows.
/// Errors    UsageError: not there ("run encode first"), unreadable, not a latent of this config
Latent load_latent(const ReconstructionFiles& files, const AutoEncoderConfig& config);

/// What the serial decoder made of a latent.
struct Baseline {
  at::Tensor image;                        ///< float32 [1, 3, H, W], before it was cropped and rounded
  std::int64_t peak_activation_bytes = 0;  ///< by the memory meter
};

/// `checkpoint_digest`: of the checkpoint that decoded it.
void save_baseline(const ReconstructionFiles& files, const Latent& latent, const Baseline& baseline,
                   const std::string& checkpoint_digest);

/// Errors    UsageError: not there ("run baseline first"), unreadable, of another latent, or decoded with a checkpoint of
///           another digest
Baseline load_baseline(const ReconstructionFiles& files, const Latent& latent, const std::string& checkpoint_digest);

}  // namespace lab::vae
