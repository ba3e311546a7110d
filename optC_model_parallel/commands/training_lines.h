#pragma once

#include <string>
#include <vector>

#include "common/api/collectives.h"
#include "common/checks/lab_step.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/checkpoint.h"
#include "optC_model_parallel/model/training_record.h"

namespace lab::optc {

/// How the ranks of a training agree on the checkpoint to resume from: the newest that all of them have. Each has at
/// most two. Of what a rank has found damaged, the others learn the first 1,000 bytes.
/// Call      the returned function is collective; `comm` must outlive it
Checkpoints::Agree step_of_all(Collectives& comm);

/// A training on all ranks that is compared with the one in one process in the lab's log.
struct CheckedTraining {
  std::string title;  ///< "Pipeline": the prefix of its lines
  TrainingRun run;
  CheckpointOptions checkpoints;
};

/// Trains, and prints match lines on every rank: for its parameters after each epoch and, on the ranks that know them,
/// for the losses of all steps and the predictions. In float32 only how far the parameters are from one process's. Saves
/// what was compared.
/// Call      collective
TrainingRecord train_and_compare(RankRun& lab_run, const CheckedTraining& training, const Dataset& data,
                                 const TrainingRecord& reference);

/// The trainings of a run without options: "Pipeline" and "Tensor".
CheckedTraining default_pipeline();
CheckedTraining default_tensor();

/// A program that runs the checks of these sections, which may be none, then `train`: train_and_compare() for each of the
/// trainings. Whoever only needs the lines may leave `train` empty.
std::vector<LabStep> program_steps(const std::vector<Section>& sections, const std::vector<CheckedTraining>& trainings,
                                   const StepBody& train);

}  // namespace lab::optc
