#pragma once

#include <string>
#include <vector>

#include "common/lab/case.h"

namespace lab::optc {

/// Small trainings on generated images, float64, beside the same ones in one process: "losses", "test_losses",
/// "accuracies", "predictions", and after each epoch this rank's tensors, "epoch1.fc1.weight".
std::vector<Case> tensor_training_cases();

/// The call that trains this model.
TaskCall tensor_training_call(const std::string& model);

}  // namespace lab::optc
