#pragma once

#include <vector>

#include "optC_model_parallel/gpipe_alone.h"

namespace lab::optc {

/// One batch forward and backward through a small model: the loss, the gradients of all weights, and what travels.
/// GPipe with micro-batches of every kind.
std::vector<Case> gpipe_cases();
/// The same with 1F1B and interleaved.
std::vector<Case> schedule_cases();

/// What such a case asks for, with the student's stages. With 1F1B and interleaved, `gpipe` is not called.
TensorMap pass_trial(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe);

}  // namespace lab::optc
