#pragma once

#include <vector>

#include "common/lab/case.h"

// The decoder and the autoencoder of a small config of FLUX.1's structure.
namespace lab::vae {

/// vae.decoder, on latents of even and uneven width; within 1e-5 in float32.
std::vector<Case> decoder_cases();
/// vae.autoencoder: "input.picture" and "input.latent", whole on every rank; "latent" and "picture".
std::vector<Case> autoencoder_cases();
/// vae.decoder_gathers_nothing: all that the decoder sends.
std::vector<Case> decoder_traffic_cases();
/// vae.decoder_gradient.
std::vector<Case> decoder_gradient_cases();

}  // namespace lab::vae
