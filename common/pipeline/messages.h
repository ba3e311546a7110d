#pragma once

#include <optional>
#include <vector>

#include "common/pipeline/generators.h"

namespace lab::pipeline {

/// What the rank must have received before the computation, and what it sends after it: whole actions. nullopt
/// where the model begins or ends, where the other stage is on the same rank, and for the weights' gradients.
std::optional<Action> message_before(const Schedule& schedule, int rank, const Action& computation);
std::optional<Action> message_after(const Schedule& schedule, int rank, const Action& computation);

/// The computations of one rank with the messages that they need.
std::vector<Action> with_messages(const Schedule& schedule, int rank, const std::vector<Action>& computations,
                                  Waiting waiting);

}  // namespace lab::pipeline
