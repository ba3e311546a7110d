#pragma once

#include <string>

#include "common/report/plot_diagram.h"
#include "common/report/plot_diagram_layout.h"

namespace lab::plot {

/// What boxes, arrows and texts say, in letters that fit and at places where they can be read.
std::string labels_script(const Diagram& diagram, const DiagramLayout& layout);

}  // namespace lab::plot
