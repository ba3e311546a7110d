#pragma once

#include <string>
#include <vector>

#include "optC_model_parallel/model/training_record.h"

namespace lab::optc {

struct NamedRecord {
  std::string name;  ///< in legends and tables; without a comma
  TrainingRecord record;
  bool reference = false;  ///< what the runs after it must equal: drawn as a line, they as points
};

/// Writes FOLDER/PREFIX_steps.csv (step from 1, the loss of each run), FOLDER/PREFIX_epochs.csv (epoch from 1, test
/// loss and accuracy of each run) and their pictures, all runs in one: FOLDER/PREFIX_loss and _accuracy, each as .png
/// and .svg. Numbers have 17 digits, so that they can be read back exactly; the cells of a shorter run are empty. The x
/// axis of both pictures counts steps. Nothing is smoothed; a run with many steps shows about forty points, different
/// ones for each run. Without gnuplot, a message on stderr replaces the pictures; a picture without points is left out.
/// Returns   the paths of the files written
/// Errors    UsageError: a file cannot be written
std::vector<std::string> write_curves(const std::vector<NamedRecord>& runs, const std::string& folder,
                                      const std::string& prefix);

}  // namespace lab::optc
