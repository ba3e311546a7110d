#pragma once

#include <functional>
#include <vector>

#include "common/comm/communicator.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/data/images.h"
#include "optC_model_parallel/model/training/training_record.h"

namespace lab::optc {

/// Trains what a run on so many ranks must equal. `report` is called after each step and each batch of an evaluation:
/// others are waiting.
TrainingRecord train_reference(const TrainingRun& run, const Dataset& data, int num_ranks,
                               const std::function<void()>& report);

/// Trains what each run must equal, each in one process: on several ranks at once, in turn. Runs with the same
/// reference_key() have the same training. Every rank then has all of them, in the order of `runs`.
/// Call      collective
std::vector<TrainingRecord> train_references(const std::vector<TrainingRun>& runs, const Dataset& data,
                                             Communicator& comm);

}  // namespace lab::optc
