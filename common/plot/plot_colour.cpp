#include "common/plot/plot_colour.h"

#include <array>
#include <cmath>

namespace lab::plot {
namespace {

constexpr std::array<std::uint32_t, kNumColours> kPalette{
    0x0072B2,  // blue
    0xD55E00,  // vermilion
    0x009E73,  // bluish green
    0xCC79A7,  // reddish purple
    0xE69F00,  // orange
    0x56B4E9,  // sky blue
    0x882255,  // wine
    0x999933,  // olive
    0x333333,  // almost black
    0xF0E442,  // yellow: last, because a thin yellow line is hard to see on white
};

int channel(Colour colour, int shift) {
  return static_cast<int>((colour.rgb >> shift) & 0xFF);
}

}  // namespace

Colour colour(int index) {
  const int wrapped = ((index % kNumColours) + kNumColours) % kNumColours;
  return {kPalette[static_cast<std::size_t>(wrapped)]};
}

Colour tint(Colour colour, double strength) {
  std::uint32_t mixed = 0;
  for (const int shift : {16, 8, 0}) {
    const double value = 255 + strength * (channel(colour, shift) - 255);
    mixed |= static_cast<std::uint32_t>(std::lround(value)) << shift;
  }
  return {mixed};
}

Colour text_colour_on(Colour ground) {
  // Luma of ITU-R BT.601, 0 to 255.
  const double luma = 0.299 * channel(ground, 16) + 0.587 * channel(ground, 8) + 0.114 * channel(ground, 0);
  return luma > 130 ? kBlack : kWhite;
}

}  // namespace lab::plot
