#pragma once

#include <array>
#include <cstdint>

#include "common/tensor/mixing.h"

namespace lab::vae {

/// Random numbers that depend on the seed only, the same on every machine, unlike the standard library's distributions.
class GeneratedRandom {
 public:
  explicit GeneratedRandom(uint64_t seed) : next_(splitmix64(seed)) {}

  uint32_t bits() { return static_cast<uint32_t>(splitmix64(next_++) >> 32); }

  /// One of 0 .. count - 1.
  uint32_t below(uint32_t count) { return static_cast<uint32_t>(uint64_t{bits()} * count >> 32); }

  /// Uniform, low <= value <= high; 24 random bits, as many as a float holds.
  float between(float low, float high) {
    return low + (high - low) * (static_cast<float>(bits() >> 8) * (1.0F / 16777216.0F));
  }

  /// Mean 0, variance 1, between -3.5 and 3.5, nearly normal: four uniform numbers, each of variance 1/12, summed.
  float bell() {
    float sum = -2.0F;
    for (int i = 0; i < 4; ++i) sum += between(0.0F, 1.0F);
    return sum * 1.7320508F;
  }

 private:
  uint64_t next_;
};

using Colour = std::array<float, 3>;  ///< red, green, blue; 0 is black, 1 is the maximum brightness

enum class LeafShape { kEllipse, kBox, kLens };

/// One opaque object in a generated picture. Lengths are in pixels; "along" is the direction of the leaf's length.
struct GeneratedLeaf {
  LeafShape shape = LeafShape::kEllipse;
  float centre_x = 0.0F;
  float centre_y = 0.0F;
  float along_x = 1.0F;  ///< a unit vector
  float along_y = 0.0F;
  float half_length = 1.0F;
  float half_width = 1.0F;
  float edge = 1.0F;  ///< width of the transition from inside to outside: 1 is sharp, more is out of focus

  Colour colour = {};
  float shade_along = 0.0F;       ///< relative change of brightness from the centre to the tip
  float shade_across = 0.0F;      ///< the same, to the side
  float texture_contrast = 0.0F;  ///< relative; 0 is smooth
  float texture_cell = 1.0F;      ///< size of the coarsest detail
  float stripe_cell = 0.0F;       ///< distance between stripes, bent by the texture; 0: no stripes
  uint32_t texture_key = 0;
};

/// Signed distance of the point from the leaf's outline, in pixels; negative inside. Exact only near the outline, where
/// it is needed; the sign is right everywhere.
float distance_outside(const GeneratedLeaf& leaf, float x, float y);

/// The leaf's colour at the point, not yet clamped.
Colour colour_at(const GeneratedLeaf& leaf, float x, float y);

}  // namespace lab::vae
