#pragma once

#include <cstdint>

#include "common/tensor/mixing.h"

// Texture out of nothing: a hash gives every point of a grid a value, and a smooth curve joins them.
namespace lab::vae {

/// The value at the grid's point, in [-1, 1).
inline float grid_value(uint32_t key, int32_t column, int32_t row) {
  const uint32_t place = static_cast<uint32_t>(column) * 0x9E3779B1U + static_cast<uint32_t>(row) * 0x85EBCA77U;
  return static_cast<float>(static_cast<int32_t>(murmur32(place ^ key))) * (1.0F / 2147483648.0F);
}

/// Smooth noise in [-1, 1] with one random value per unit square; no slope at the grid's points.
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

}  // namespace lab::vae
