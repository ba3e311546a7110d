#pragma once

#include <functional>
#include <vector>

#include "common/api/communicator.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/training_record.h"

namespace lab::optc {

/// Trains the reference of a run on `num_ranks` ranks. `report` is called after each step and each batch of an
/// evaluation: other ranks are waiting.
TrainingRecord train_reference(const TrainingRun& run, const Dataset& data, int num_ranks,
                               const std::function<void()>& report);

/// Trains each run's reference in one process, distributing them over the ranks. Runs with the same reference_key()
/// share one. Every rank gets all of them, in the order of `runs`.
/// Call      collective
std::vector<TrainingRecord> train_references(const std::vector<TrainingRun>& runs, const Dataset& data,
                                             Communicator& comm);

}  // namespace lab::optc
