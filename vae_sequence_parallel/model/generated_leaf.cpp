#include "vae_sequence_parallel/model/generated_leaf.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/tensor/mixing.h"

// Uses only + - * / and the square root, which IEEE 754 defines exactly: sines and powers differ between machines.
namespace lab::vae {
namespace {

// Procedural texture: a hash gives each grid point a value, and a smooth curve interpolates.
/// The value at a grid point, in [-1, 1).
inline float grid_value(uint32_t key, int32_t column, int32_t row) {
  const uint32_t place = static_cast<uint32_t>(column) * 0x9E3779B1U + static_cast<uint32_t>(row) * 0x85EBCA77U;
  return static_cast<float>(static_cast<int32_t>(murmur32(place ^ key))) * (1.0F / 2147483648.0F);
}

/// Smooth noise in [-1, 1] with one random value per unit square; zero slope at grid points.
inline float value_noise(uint32_t key, float x, float y) {
  const auto column = static_cast<int32_t>(x) - (x < 0.0F ? 1 : 0);
  const auto row = static_cast<int32_t>(y) - (y < 0.0F ? 1 : 0);
  const float right = x - static_cast<float>(column);
  const float down = y - static_cast<float>(row);
  const float ease_x = right * right * (3.0F - 2.0F * right);
  const float ease_y = down * down * (3.0F - 2.0F * down);
  const float left_top = grid_value(key, column, row);
  const float left_bottom = grid_value(key, column, row + 1);
  const float top = left_top + ease_x * (grid_value(key, column + 1, row) - left_top);
  const float bottom = left_bottom + ease_x * (grid_value(key, column + 1, row + 1) - left_bottom);
  return top + ease_y * (bottom - top);
}

/// Octaves of value_noise, each twice as fine and half as strong, as in natural pictures, whose amplitude falls as 1/f.
/// Order     the coarsest first; stops where the next would be finer than finest, in the units of x and y
/// Source    Field: Relations between the statistics of natural images and the response properties of cortical cells,
///           1987
inline float fractal_noise(uint32_t key, float x, float y, float finest) {
  float sum = 0.0F;
  float strength = 1.0F;
  for (float cell = 1.0F; cell >= finest && strength > 0.05F; cell *= 0.5F) {
    sum += strength * value_noise(key++, x / cell, y / cell);
    strength *= 0.5F;
  }
  return sum;
}

constexpr float kFinestTexture = 1.5F;  // pixels; finer would alias

/// The point in the leaf's coordinates: along and across.
struct LeafPoint {
  LeafPoint(const GeneratedLeaf& leaf, float x, float y) {
    const float right = x - leaf.centre_x;
    const float down = y - leaf.centre_y;
    along = right * leaf.along_x + down * leaf.along_y;
    across = down * leaf.along_x - right * leaf.along_y;
  }
  float along;
  float across;
};

/// First order: the implicit function divided by the length of its gradient.
float outside_ellipse(const LeafPoint& point, float a, float b) {
  const float u = point.along / a;
  const float v = point.across / b;
  const float radius = std::sqrt(u * u + v * v);
  const float slope = std::sqrt(u * u / (a * a) + v * v / (b * b));
  return slope > 0.0F ? (radius - 1.0F) * radius / slope : -b;
}

/// A box whose corners are rounded by a quarter of its width.
float outside_box(const LeafPoint& point, float a, float b) {
  const float corner = 0.25F * b;
  const float u = std::fabs(point.along) - a + corner;
  const float v = std::fabs(point.across) - b + corner;
  const float u_out = std::max(u, 0.0F);
  const float v_out = std::max(v, 0.0F);
  return std::sqrt(u_out * u_out + v_out * v_out) + std::min(std::max(u, v), 0.0F) - corner;
}

/// Where two equal discs overlap: pointed at both ends, like a leaf.
float outside_lens(const LeafPoint& point, float a, float b) {
  const float radius = (a * a + b * b) / (2.0F * b);
  const float v = std::fabs(point.across) + radius - b;
  return std::sqrt(point.along * point.along + v * v) - radius;
}

/// -1 to 1 and back, once every two units.
float triangle_wave(float x) {
  const float phase = x * 0.5F - std::floor(x * 0.5F);
  return std::fabs(4.0F * phase - 2.0F) - 1.0F;
}

}  // namespace

float distance_outside(const GeneratedLeaf& leaf, float x, float y) {
  const LeafPoint point(leaf, x, y);
  if (leaf.shape == LeafShape::kEllipse) return outside_ellipse(point, leaf.half_length, leaf.half_width);
  if (leaf.shape == LeafShape::kBox) return outside_box(point, leaf.half_length, leaf.half_width);
  return outside_lens(point, leaf.half_length, leaf.half_width);
}

Colour colour_at(const GeneratedLeaf& leaf, float x, float y) {
  const LeafPoint point(leaf, x, y);
  float brightness =
      1.0F + leaf.shade_along * point.along / leaf.half_length + leaf.shade_across * point.across / leaf.half_width;
  if (leaf.texture_contrast > 0.0F) {
    const float cell = leaf.texture_cell;
    // Twice as long as wide, like grain and fur.
    float texture =
        fractal_noise(leaf.texture_key, 0.5F * point.along / cell, point.across / cell, kFinestTexture / cell);
    if (leaf.stripe_cell > 0.0F) texture = triangle_wave(point.across / leaf.stripe_cell + texture);
    brightness += leaf.texture_contrast * texture;
  }
  brightness = std::max(brightness, 0.0F);
  return {leaf.colour[0] * brightness, leaf.colour[1] * brightness, leaf.colour[2] * brightness};
}

}  // namespace lab::vae
