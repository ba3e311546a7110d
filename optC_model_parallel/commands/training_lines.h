#pragma once

#include <string>

#include "common/checks/lab_main.h"
#include "common/comm/collectives.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/data/images.h"
#include "optC_model_parallel/model/training/checkpoint.h"
#include "optC_model_parallel/model/training/training_record.h"

namespace lab::optc {

/// How the ranks of a training agree on the checkpoint that they go on from: the newest that all of them have. Each has
/// at most two.
/// Call      what it returns is collective; `comm` must outlive it
Checkpoints::Agree step_of_all(Collectives& comm);

/// A training on all ranks, beside the one in one process: what the lab's log says of it.
struct CheckedTraining {
  std::string title;  ///< "Pipeline": the head of its lines
  TrainingRun run;
  CheckpointOptions checkpoints;
};

/// Why the training cannot be carried out in this world; empty: it can.
std::string reason_to_skip(const CheckedTraining& training, const std::string& world);

/// Trains, and prints on every rank, in float64: a match line of its parameters after each epoch; on the ranks that know
/// them, of the losses of all steps and of the predictions. In float32: of the gradients of some of the epoch's steps,
/// each from the ranks' own weights (skipped where a checkpoint was later); of these steps' losses; of the accuracy with
/// the last weights. Saves what was compared.
/// Call      collective. Returns   an empty record where the training was skipped
TrainingRecord train_beside(RankRun& lab_run, const CheckedTraining& training, const Dataset& data,
                            const TrainingRecord& reference);

/// The lines of a training in float64 that went well.
void expect_training(LogExpectation& log, const CheckedTraining& training);

}  // namespace lab::optc
