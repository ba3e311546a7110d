#pragma once

#include <vector>

#include "common/checks/case.h"

namespace lab::optc {

/// gpipe() and nothing else of the lab.
Case gpipe_alone_case();

/// One batch through stages that compute for long: whether they do so at the same time, and hold no more than they must;
/// and through others in float32. Not among the lab's lines.
std::vector<Case> unprinted_pass_cases();

/// One batch forward and backward through a small model: the loss, the gradients of all weights, and what is sent.
/// GPipe with micro-batches of every kind.
std::vector<Case> gpipe_cases();
/// The same with 1F1B and interleaved.
std::vector<Case> schedule_cases();

}  // namespace lab::optc
