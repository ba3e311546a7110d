#include "common/plot/plot_label_places.h"

#include <algorithm>
#include <cmath>

namespace lab::plot {
namespace {

struct Rectangle {
  double left = 0, right = 0, top = 0, bottom = 0;
};

Rectangle label_at(const LabelledArrow& arrow, double share) {
  const double x = arrow.x0 + share * (arrow.x1 - arrow.x0);
  const double y = arrow.y0 + share * (arrow.y1 - arrow.y0);
  constexpr double kClearance = 3;
  const double half_width = arrow.width / 2 + kClearance;
  const double half_height = arrow.height / 2 + kClearance;
  return {x - half_width, x + half_width, y - half_height, y + half_height};
}

bool meet(const Rectangle& a, const Rectangle& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/// Cuts the part of the line inside the slab low <= start + t * step <= high out of [from, to].
void clip(double start, double step, double low, double high, double& from, double& to) {
  if (step == 0) {
    if (start < low || start > high) to = from - 1;
    return;
  }
  const double a = (low - start) / step;
  const double b = (high - start) / step;
  from = std::max(from, std::min(a, b));
  to = std::min(to, std::max(a, b));
}

bool meet(const Rectangle& box, const LabelledArrow& arrow) {
  double from = 0;
  double to = 1;
  clip(arrow.x0, arrow.x1 - arrow.x0, box.left, box.right, from, to);
  clip(arrow.y0, arrow.y1 - arrow.y0, box.top, box.bottom, from, to);
  return from <= to;
}

}  // namespace

std::vector<double> label_places(const std::vector<LabelledArrow>& arrows) {
  constexpr double kOnLabel = 100;  // against 1 for hiding a piece of another arrow
  std::vector<double> places(arrows.size(), 0.5);
  std::vector<Rectangle> taken;
  for (std::size_t i = 0; i < arrows.size(); ++i) {
    if (arrows[i].width <= 0) continue;
    double least = -1;
    for (const double share : {0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.19, 0.81, 0.13, 0.87}) {
      const Rectangle box = label_at(arrows[i], share);
      double cost = 0.5 * std::abs(share - 0.5);
      for (const Rectangle& other : taken) cost += meet(box, other) ? kOnLabel : 0;
      for (std::size_t j = 0; j < arrows.size(); ++j) cost += j != i && meet(box, arrows[j]) ? 1 : 0;
      if (least >= 0 && cost >= least) continue;
      least = cost;
      places[i] = share;
    }
    taken.push_back(label_at(arrows[i], places[i]));
  }
  return places;
}

}  // namespace lab::plot
