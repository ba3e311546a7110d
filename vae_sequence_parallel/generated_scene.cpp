#include "vae_sequence_parallel/generated_scene.h"

#include <algorithm>
#include <cmath>

namespace lab::vae {
namespace {

/// Brightness varies much more than hue, as it does in photographs: there the three axes are independent.
/// Source    Ruderman, Cronin, Chiao: Statistics of cone responses to natural images, 1998
Colour colour_of(float brightness, float yellow_blue, float red_green) {
  return {brightness + yellow_blue + red_green, brightness + yellow_blue - red_green, brightness - 2.0F * yellow_blue};
}

struct UnitVector {
  float x;
  float y;
};

/// By rejection from the square, which needs no sine.
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

/// Mostly small, seldom near the limit.
float draw_seldom_large(float limit, GeneratedRandom& random) {
  const float share = random.between(0.0F, 1.0F);
  return limit * share * share;
}

void draw_surface(const GeneratedScene& scene, GeneratedRandom& random, GeneratedLeaf& leaf) {
  leaf.colour = scene.palette[random.below(static_cast<uint32_t>(scene.palette.size()))];
  const float brighter = 0.08F * random.bell();
  const float yellower = 0.012F * random.bell();
  const float redder = 0.010F * random.bell();
  const Colour change = colour_of(brighter, yellower, redder);
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

}  // namespace

GeneratedScene draw_scene(int64_t height, int64_t width, GeneratedRandom& random) {
  GeneratedScene scene;
  const float middle = random.between(0.32F, 0.58F);
  const float tint = 0.03F * random.bell();
  const float saturation = random.between(0.3F, 1.4F);
  for (Colour& colour : scene.palette) {
    // One colour of each picture stands out.
    const float vividness = &colour == &scene.palette.back() ? 2.0F * saturation : saturation;
    const float brightness = std::clamp(middle + 0.22F * random.bell(), 0.04F, 0.95F);
    // A dark thing shows little colour.
    const float strength = vividness * std::min(2.0F * brightness, 1.0F);
    const float yellow_blue = strength * (tint + 0.075F * random.bell());
    // Daylight goes from orange to blue: what is yellower is also redder.
    const float red_green = 0.5F * yellow_blue + strength * 0.045F * random.bell();
    colour = colour_of(brightness, yellow_blue, red_green);
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

GeneratedLeaf draw_leaf(const GeneratedScene& scene, int64_t height, int64_t width, GeneratedRandom& random) {
  GeneratedLeaf leaf;
  leaf.shape = static_cast<LeafShape>(random.below(3));
  // The inverse of the power law's cumulative distribution: of all leaves, the share (smallest / r)^2 is larger than r.
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

}  // namespace lab::vae
