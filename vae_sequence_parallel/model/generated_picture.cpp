#include "vae_sequence_parallel/generated_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/api/errors.h"
#include "vae_sequence_parallel/model/generated_leaf.h"

namespace lab::vae {
namespace {

/// Shared by the leaves of one picture: matching colours, sizes, and the direction of light.
struct GeneratedScene {
  std::array<Colour, 6> palette = {};
  float smallest = 1.0F;  ///< half of a leaf's length, in pixels
  float largest = 1.0F;
  float texture = 0.5F;  ///< the fraction of leaves with a texture
  float light_x = 0.0F;  ///< a unit vector in the direction of shadows
  float light_y = 0.0F;
};

/// Brightness varies much more than hue, as it does in photographs: there the three axes are independent.
/// Source    Ruderman, Cronin, Chiao: Statistics of cone responses to natural images, 1998
Colour make_colour(float brightness, float yellow_blue, float red_green) {
  return {brightness + yellow_blue + red_green, brightness + yellow_blue - red_green, brightness - 2.0F * yellow_blue};
}

struct UnitVector {
  float x;
  float y;
};

/// By rejection sampling from the square, without sine.
UnitVector draw_direction(GeneratedRandom& random) {
  while (true) {
    const float x = random.between(-1.0F, 1.0F);
    const float y = random.between(-1.0F, 1.0F);
    const float square = x * x + y * y;
    if (square > 1.0F || square < 0.01F) continue;
    const float length = std::sqrt(square);
    return {x / length, y / length};
  }
}

/// Mostly small, rarely near the limit.
float draw_seldom_large(float limit, GeneratedRandom& random) {
  const float share = random.between(0.0F, 1.0F);
  return limit * share * share;
}

void draw_surface(const GeneratedScene& scene, GeneratedRandom& random, GeneratedLeaf& leaf) {
  leaf.colour = scene.palette[random.below(static_cast<uint32_t>(scene.palette.size()))];
  const float brighter = 0.08F * random.bell();
  const float yellower = 0.012F * random.bell();
  const float redder = 0.010F * random.bell();
  const Colour change = make_colour(brighter, yellower, redder);
  for (size_t channel = 0; channel < 3; ++channel)
    leaf.colour[channel] = std::clamp(leaf.colour[channel] + change[channel], 0.015F, 0.985F);
  leaf.shade_along = 0.22F * random.bell();
  leaf.shade_across = 0.22F * random.bell();
  leaf.texture_key = random.bits();
  leaf.edge = 1.0F + draw_seldom_large(0.1F * leaf.half_width, random);
  if (random.between(0.0F, 1.0F) > scene.texture) return;
  leaf.texture_contrast = 0.04F + draw_seldom_large(0.4F, random);
  leaf.texture_cell = 2.0F + draw_seldom_large(0.5F * leaf.half_length, random);
  if (random.below(4) == 0) leaf.stripe_cell = 2.5F + draw_seldom_large(0.3F * leaf.half_width, random);
}

/// A scene for a picture of this size.
GeneratedScene draw_scene(int64_t height, int64_t width, GeneratedRandom& random) {
  GeneratedScene scene;
  const float middle = random.between(0.32F, 0.58F);
  const float tint = 0.03F * random.bell();
  const float saturation = random.between(0.3F, 1.4F);
  for (Colour& colour : scene.palette) {
    // One colour of each picture stands out.
    const float vividness = &colour == &scene.palette.back() ? 2.0F * saturation : saturation;
    const float brightness = std::clamp(middle + 0.22F * random.bell(), 0.04F, 0.95F);
    // Dark objects show little colour.
    const float strength = vividness * std::min(2.0F * brightness, 1.0F);
    const float yellow_blue = strength * (tint + 0.075F * random.bell());
    // Daylight ranges from orange to blue: yellower is also redder.
    const float red_green = 0.5F * yellow_blue + strength * 0.045F * random.bell();
    colour = make_colour(brightness, yellow_blue, red_green);
  }
  const auto side = static_cast<float>(std::max({height, width, int64_t{16}}));
  scene.smallest = std::max(2.0F, side * (0.012F + draw_seldom_large(0.08F, random)));
  scene.largest = side * random.between(0.35F, 0.6F);
  scene.texture = random.between(0.2F, 0.8F);
  const UnitVector light = draw_direction(random);
  scene.light_x = light.x;
  scene.light_y = light.y;
  return scene;
}

/// A leaf somewhere on the picture, or reaching into it. Sizes follow the power law r^-3, so that each octave of sizes
/// covers as much of the picture as any other and no scale is special.
/// Source    Lee, Mumford, Huang: Occlusion models for natural images, 2001
GeneratedLeaf draw_leaf(const GeneratedScene& scene, int64_t height, int64_t width, GeneratedRandom& random) {
  GeneratedLeaf leaf;
  leaf.shape = static_cast<LeafShape>(random.below(3));
  // Inverse transform sampling: a fraction (smallest / r)^2 of the leaves is larger than r.
  const float ratio = scene.smallest / scene.largest;
  leaf.half_length = scene.smallest / std::sqrt(random.between(ratio * ratio, 1.0F));
  leaf.half_width = leaf.half_length * random.between(0.3F, 1.0F);
  if (leaf.shape == LeafShape::kEllipse && random.below(2) == 0) leaf.half_width = leaf.half_length;
  const UnitVector along = draw_direction(random);
  leaf.along_x = along.x;
  leaf.along_y = along.y;
  leaf.centre_x = random.between(-leaf.half_length, static_cast<float>(width) + leaf.half_length);
  leaf.centre_y = random.between(-leaf.half_length, static_cast<float>(height) + leaf.half_length);
  draw_surface(scene, random, leaf);
  return leaf;
}

constexpr int64_t kMaxSize = 16384;
constexpr int kMaxLeaves = 20'000;
constexpr float kOpenEnough = 0.002F;  // the fraction of the picture that is left to the background

/// Leaves are drawn from front to back: covered pixels are skipped, and drawing ends when everything is covered.
class Canvas {
 public:
  Canvas(int64_t height, int64_t width)
      : height_(height), width_(width), pixels_(static_cast<size_t>(height * width)), open_(height * width) {}

  bool is_covered() const { return open_ < kOpenEnough * static_cast<double>(height_ * width_); }

  /// Puts the leaf behind all previous ones, and casts its shadow onto all later ones.
  void put(const GeneratedLeaf& leaf, float shadow_x, float shadow_y) {
    const float depth = 0.15F * leaf.half_width + 1.0F;  // how far the leaf floats above the next
    const float corner = std::sqrt(leaf.half_length * leaf.half_length + leaf.half_width * leaf.half_width);
    const float reach = corner + leaf.edge + 2.0F * depth;
    const Range rows(leaf.centre_y - reach, leaf.centre_y + reach, height_);
    const Range columns(leaf.centre_x - reach, leaf.centre_x + reach, width_);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      for (int64_t column = columns.begin; column < columns.end; ++column) {
        Pixel& pixel = pixels_[static_cast<size_t>(row * width_ + column)];
        if (pixel.open <= 0.0F) continue;
        const float x = static_cast<float>(column) + 0.5F;
        const float y = static_cast<float>(row) + 0.5F;
        cover(pixel, leaf, x, y);
        const float from_shadow = distance_outside(leaf, x - shadow_x * depth, y - shadow_y * depth);
        const float shadow = std::clamp(0.5F - 0.5F * from_shadow / depth, 0.0F, 1.0F);
        pixel.light *= 1.0F - 0.55F * shadow * shadow * (3.0F - 2.0F * shadow);
      }
    }
  }

  /// The picture, with the background in the open parts.
  at::Tensor finish(const Colour& background) const {
    at::Tensor picture = at::empty({height_, width_, 3}, at::kByte);
    auto* sample = picture.data_ptr<uint8_t>();
    for (const Pixel& pixel : pixels_) {
      for (size_t channel = 0; channel < 3; ++channel) {
        const float value = pixel.colour[channel] + pixel.open * pixel.light * background[channel];
        // NOLINTNEXTLINE(bugprone-incorrect-roundings): it cannot be negative
        *sample++ = static_cast<uint8_t>(std::clamp(value, 0.0F, 1.0F) * 255.0F + 0.5F);
      }
    }
    return picture;
  }

 private:
  struct Pixel {
    Colour colour = {};
    float open = 1.0F;   ///< the fraction not covered yet
    float light = 1.0F;  ///< the fraction of light left by the shadows so far
  };

  /// The indices from low to high that lie in 0 .. size - 1.
  struct Range {
    Range(float low, float high, int64_t size)
        : begin(static_cast<int64_t>(std::clamp(low, 0.0F, static_cast<float>(size)))),
          end(static_cast<int64_t>(std::clamp(std::ceil(high), 0.0F, static_cast<float>(size)))) {}
    int64_t begin;
    int64_t end;
  };

  void cover(Pixel& pixel, const GeneratedLeaf& leaf, float x, float y) {
    const float inside = std::clamp(0.5F - distance_outside(leaf, x, y) / leaf.edge, 0.0F, 1.0F);
    if (inside <= 0.0F) return;
    const Colour colour = colour_at(leaf, x, y);
    const float share = pixel.open * inside;
    for (size_t channel = 0; channel < 3; ++channel) pixel.colour[channel] += share * pixel.light * colour[channel];
    pixel.open -= share;
    if (pixel.open < 0.004F) pixel.open = 0.0F;  // less than a step of 8 bits
    open_ -= share;
  }

  int64_t height_;
  int64_t width_;
  std::vector<Pixel> pixels_;
  double open_;  ///< the sum over all pixels
};

}  // namespace

at::Tensor generated_picture(int64_t height, int64_t width, uint64_t seed) {
  for (const int64_t size : {height, width}) {
    if (size < 1 || size > kMaxSize)
      throw ContractError(
          fmt::format("A generated picture's height and width must be 1 to {}, got {} x {}.", kMaxSize, height, width));
  }
  GeneratedRandom random(seed);
  const GeneratedScene scene = draw_scene(height, width, random);
  Canvas canvas(height, width);
  for (int i = 0; i < kMaxLeaves && !canvas.is_covered(); ++i)
    canvas.put(draw_leaf(scene, height, width, random), scene.light_x, scene.light_y);
  return canvas.finish(scene.palette[0]);
}

}  // namespace lab::vae
