#pragma once

#include "common/checks/case.h"

namespace lab::optc {

/// A short training in a pipeline, with all of the student's code, compared with the same in one process: the weights
/// after each epoch, the loss of each step, and the trained model's predictions.
Case pipeline_training_case();

}  // namespace lab::optc
