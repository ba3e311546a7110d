#pragma once

#include "common/checks/case.h"

namespace lab::optc {

/// A short training in a pipeline, by the student's whole work, beside the same in one process: the weights after each
/// epoch, the loss of each step, and what the trained model answers.
Case pipeline_training_case();
TensorMap pipeline_training_trial(Communicator& comm, const CaseInputs& inputs);

}  // namespace lab::optc
