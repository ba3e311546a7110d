#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "common/api/errors.h"
#include "optC_model_parallel/model/draws.h"
#include "optC_model_parallel/model/images.h"

namespace lab::optc {
namespace {

/// The background colour that is more frequent for each class. Without these, the tutorial's net learns nothing in its
/// first five epochs on 1,500 images; from them alone, it gets about every second image right.
constexpr std::int64_t kUsualTints[kNumClasses][kImageChannels] = {{1, 0, 0},   {0, 1, 0},   {0, 0, 1}, {-1, 0, 0},
                                                                   {0, -1, 0},  {0, 0, -1},  {1, 1, 0}, {0, 1, 1},
                                                                   {-1, 0, -1}, {-1, -1, -1}};

/// Whether a position is in a stripe and not between two: the first begins at 0, and gaps are as wide as stripes.
bool in_stripe(std::int64_t place, std::int64_t width) {
  const std::int64_t positive = place + 2 * kImageSide * width;  // by whole pairs: division would round towards 0
  return positive / width % 2 == 0;
}

/// Whether the shape is at (x, y), as seen from its centre.
bool in_shape(std::int64_t label, std::int64_t x, std::int64_t y, std::int64_t size) {
  const std::int64_t round = x * x + y * y;
  const std::int64_t square = std::max(std::abs(x), std::abs(y));
  const std::int64_t stripe = size / 2;
  switch (label) {
    case 0: return round <= size * size;                                              // disc
    case 1: return round <= size * size && 4 * round > size * size;                   // ring
    case 2: return square <= size;                                                    // square
    case 3: return square <= size && 2 * square > size;                               // frame
    case 4: return square <= size && 3 * std::min(std::abs(x), std::abs(y)) <= size;  // cross
    case 5: return std::abs(y) <= size && 2 * std::abs(x) <= y + size;                // triangle
    case 6: return in_stripe(y, stripe);                                              // lying stripes
    case 7: return in_stripe(x, stripe);                                              // standing stripes
    case 8: return in_stripe(x + y, stripe + stripe / 2);                             // slanting stripes
    default: return in_stripe(x, stripe) == in_stripe(y, stripe);                     // chessboard
  }
}

/// Draws a shape in front of a background that becomes lighter in one direction. pixels: [3, 32, 32]
/// Returns   its class
std::int64_t draw_image(PortableRandom& random, std::uint8_t* pixels) {
  const std::int64_t label = random.below(kNumClasses);
  const std::int64_t centre_x = kImageSide / 2 + random.between(-5, 5),
                     centre_y = kImageSide / 2 + random.between(-5, 5);
  const std::int64_t size = random.between(6, 12);  // half of a shape's width; a stripe is half as wide as that
  const std::int64_t slope_x = random.between(-3, 3), slope_y = random.between(-3, 3);
  const std::int64_t sign = random.below(2) == 0 ? -1 : 1;  // a dark shape, or a light one
  std::int64_t background[kImageChannels], foreground[kImageChannels];
  for (std::int64_t channel = 0; channel < kImageChannels; ++channel) {
    background[channel] = 128 - 40 * sign + 80 * kUsualTints[label][channel] + random.between(-80, 80);
    foreground[channel] = background[channel] + sign * random.between(0, 160);
  }
  for (std::int64_t channel = 0; channel < kImageChannels; ++channel) {
    for (std::int64_t y = 0; y < kImageSide; ++y) {
      for (std::int64_t x = 0; x < kImageSide; ++x) {
        const bool front = in_shape(label, x - centre_x, y - centre_y, size);
        const std::int64_t light = slope_x * (x - kImageSide / 2) + slope_y * (y - kImageSide / 2);
        const std::int64_t noise = random.between(-20, 20) + random.between(-20, 20);
        const std::int64_t value = (front ? foreground : background)[channel] + light + noise;
        *pixels++ = static_cast<std::uint8_t>(std::clamp<std::int64_t>(value, 0, 255));
      }
    }
  }
  return label;
}

Images draw_images(std::int64_t num_images, std::uint64_t seed, const std::function<void()>& on_batch) {
  constexpr std::int64_t kBatch = 1024;
  if (num_images < 0) throw ContractError(fmt::format("Generated data have 0 images or more, got {}.", num_images));
  Images images;
  images.pixels = at::empty({num_images, kImageChannels, kImageSide, kImageSide}, at::kByte);
  images.labels = at::empty({num_images}, at::kLong);
  auto* pixels = images.pixels.data_ptr<std::uint8_t>();
  auto* labels = images.labels.data_ptr<std::int64_t>();
  for (std::int64_t image = 0; image < num_images; ++image) {
    PortableRandom random(seed + static_cast<std::uint64_t>(image));  // an image does not depend on how many there are
    labels[image] = draw_image(random, pixels + image * kImageChannels * kImageSide * kImageSide);
    if (on_batch && (image + 1) % kBatch == 0) on_batch();
  }
  return images;
}

}  // namespace

Dataset generated_images(std::int64_t num_train, std::int64_t num_test, std::uint64_t seed,
                         const std::function<void()>& on_batch) {
  const std::uint64_t mixed = splitmix64(seed);
  return {draw_images(num_train, splitmix64(mixed), on_batch), draw_images(num_test, splitmix64(mixed + 1), on_batch)};
}

}  // namespace lab::optc
