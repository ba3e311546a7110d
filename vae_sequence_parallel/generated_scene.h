#pragma once

#include <array>
#include <cstdint>

#include "vae_sequence_parallel/generated_leaf.h"
#include "vae_sequence_parallel/generated_random.h"

namespace lab::vae {

/// What the leaves of one picture have in common: colours that go together, sizes, and where the light comes from.
struct GeneratedScene {
  std::array<Colour, 6> palette = {};
  float smallest = 1.0F;  ///< half of a leaf's length, in pixels
  float largest = 1.0F;
  float texture = 0.5F;  ///< the share of leaves that have one
  float light_x = 0.0F;  ///< a unit vector that points to where shadows fall
  float light_y = 0.0F;
};

/// A scene for a picture of this size.
GeneratedScene draw_scene(int64_t height, int64_t width, GeneratedRandom& random);

/// A leaf somewhere on the picture, or reaching into it. Sizes follow the power law r^-3, so that each octave of sizes
/// covers as much of the picture as any other and no scale is special.
/// Source    Lee, Mumford, Huang: Occlusion models for natural images, 2001
GeneratedLeaf draw_leaf(const GeneratedScene& scene, int64_t height, int64_t width, GeneratedRandom& random);

}  // namespace lab::vae
