#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace lab::vae {

/// A picture of overlapping objects, similar to a photograph for a network: sharp edges in every direction, blurred
/// ones, shadows, smooth gradients, textures, grey and saturated colours. The labs generate their own pictures so that
/// they need no third-party ones.
/// Shapes    out uint8 [height, width, 3], red green blue
/// Order     the same size and seed give the same bytes on every machine whose compiler does not fuse multiplications
///           and additions; none does for x86-64 (elsewhere: -ffp-contract=off)
/// Cost      about 0.2 microseconds per pixel
/// Errors    ContractError: a size below 1 or above 16384
/// Source    Lee, Mumford, Huang: Occlusion models for natural images (the dead leaves model), 2001
at::Tensor generated_picture(int64_t height, int64_t width, uint64_t seed);

}  // namespace lab::vae
