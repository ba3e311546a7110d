#pragma once

#include <vector>

namespace lab::plot {

/// All in px of the picture.
struct LabelledArrow {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  double width = 0,
         height = 0;  ///< of the label, which is centred on a place of the arrow; 0: a line that labels avoid
};

/// Where along its arrow each label is easiest to read, 0 at the tail, 1 at the head: first off the other labels, then
/// off the other arrows, then near the middle. Placed one after the other, so a crowd can still collide.
std::vector<double> label_places(const std::vector<LabelledArrow>& arrows);

}  // namespace lab::plot
