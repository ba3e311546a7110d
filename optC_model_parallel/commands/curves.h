#pragma once

#include <string>
#include <vector>

#include "optC_model_parallel/model/training/training_record.h"

namespace lab::optc {

struct NamedRecord {
  std::string name;  ///< in legends and tables; without a comma
  TrainingRecord record;
  bool reference = false;  ///< what the others, the runs that follow it, must lie on: drawn as a line, they as points
};

/// Writes FOLDER/PREFIX_steps.csv (step from 1, the loss of each run), FOLDER/PREFIX_epochs.csv (epoch from 1, test
/// loss and accuracy of each run) and the pictures of them, all runs in one: FOLDER/PREFIX_loss and _accuracy, each as
/// .png and .svg. Numbers have 17 digits, so that they can be read back as they were; a run that has ended leaves its
/// cells empty. Both pictures go by steps. Nothing is smoothed; of many steps a run shows some forty points, each run
/// others. Where gnuplot is missing, a message on stderr takes the pictures' place; one without a point is left out.
/// Returns   the paths of what was written
/// Errors    UsageError: a file cannot be written
std::vector<std::string> write_curves(const std::vector<NamedRecord>& runs, const std::string& folder,
                                      const std::string& prefix);

}  // namespace lab::optc
