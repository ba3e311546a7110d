#pragma once

#include <vector>

namespace lab::plot {

/// All in px of the picture.
struct LabelledArrow {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  double width = 0, height = 0;  ///< of the label, which is centred on a place of the arrow; 0: a line to keep off
};

/// Where along its arrow each label can be read best, 0 at the tail, 1 at the head: off the other labels first, off the
/// other arrows next, near the middle last. One label after the other, so a crowd can still collide.
std::vector<double> label_places(const std::vector<LabelledArrow>& arrows);

}  // namespace lab::plot
