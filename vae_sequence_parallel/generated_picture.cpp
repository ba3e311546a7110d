#include "vae_sequence_parallel/generated_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/report/errors.h"
#include "vae_sequence_parallel/generated_leaf.h"
#include "vae_sequence_parallel/generated_random.h"
#include "vae_sequence_parallel/generated_scene.h"

namespace lab::vae {
namespace {

constexpr int64_t kMaxSize = 16384;
constexpr int kMaxLeaves = 20'000;
constexpr float kOpenEnough = 0.002F;  // the share of the picture that is left to the background

/// Leaves are laid from the front to the back: what is covered is never computed, and it ends when nothing shows.
class Canvas {
 public:
  Canvas(int64_t height, int64_t width)
      : height_(height), width_(width), pixels_(static_cast<size_t>(height * width)), open_(height * width) {}

  bool is_covered() const { return open_ < kOpenEnough * static_cast<double>(height_ * width_); }

  /// Puts the leaf behind all that are there, and its shadow onto all that will follow.
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

  /// The picture, with what is still open in one colour.
  at::Tensor finish(const Colour& background) const {
    at::Tensor picture = at::empty({height_, width_, 3}, at::kByte);
    auto* sample = picture.data_ptr<uint8_t>();
    for (const Pixel& pixel : pixels_) {
      for (size_t channel = 0; channel < 3; ++channel) {
        const float value = pixel.colour[channel] + pixel.open * pixel.light * background[channel];
        *sample++ = static_cast<uint8_t>(std::clamp(value, 0.0F, 1.0F) * 255.0F + 0.5F);
      }
    }
    return picture;
  }

 private:
  struct Pixel {
    Colour colour = {};
    float open = 1.0F;   ///< the share that shows what lies further back
    float light = 1.0F;  ///< what the shadows so far leave of the light
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
