#pragma once

#include <cstdint>

namespace lab::plot {

struct Colour {
  std::uint32_t rgb = 0;  ///< 0xRRGGBB
};

constexpr Colour kBlack{0x000000};
constexpr Colour kGrey{0x808080};
constexpr Colour kLightGrey{0xD9D9D9};
constexpr Colour kWhite{0xFFFFFF};

constexpr int kNumColours = 10;

/// Ten colours that colour-blind readers can tell apart (Okabe and Ito's, and two of Tol's), strong ones first; the
/// index wraps around, and may be negative.
Colour colour(int index);

/// The same colour mixed with white: strength 1 is the colour itself, 0 is white.
Colour tint(Colour colour, double strength);

/// Black or white, whichever is easier to read on a background of this colour.
Colour text_colour_on(Colour ground);

}  // namespace lab::plot
