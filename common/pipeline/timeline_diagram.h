#pragma once

#include "common/pipeline/timeline.h"
#include "common/plot/timeline.h"

namespace lab::pipeline {

/// A box per computation, coloured by micro-batch (forward light, backward strong, the two halves of a split backward
/// apart), bubbles grey; with `messages`, an arrow for each, from send_...() to recv_...().
plot::Timeline timeline_diagram(const Schedule& schedule, const Timeline& timeline, bool messages = false);

}  // namespace lab::pipeline
