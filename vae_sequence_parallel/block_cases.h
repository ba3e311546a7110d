#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::vae {

/// vae.upsample, at the handout's sizes and on the narrowest slices.
std::vector<Case> upsample_cases();
/// vae.attn_block: the handout's sizes with one head; 8 heads, by all-to-all or by the ring.
std::vector<Case> attn_block_cases();
/// vae.resnet_block, with and without a shortcut.
std::vector<Case> resnet_block_cases();
/// vae.decoder_gathers_nothing: all that these modules send.
std::vector<Case> block_traffic_cases();
/// vae.decoder_gradient, of these modules.
std::vector<Case> block_gradient_cases();

}  // namespace lab::vae
