#pragma once

#include <vector>

#include "common/checks/lab_step.h"
#include "optC_model_parallel/commands/training_run.h"

namespace lab::optc {

/// Trains, and prints match lines on every rank: for its parameters after each epoch and, on the ranks that know them,
/// for the losses of all steps and the predictions. In float32 only how far the parameters are from one process's. Saves
/// what was compared.
/// Call      collective
TrainingRecord train_and_compare(RankRun& lab_run, const TrainingRun& run, const Dataset& data,
                                 const TrainingRecord& reference);

/// The trainings of a run without options: "Pipeline" and "Tensor".
TrainingRun default_pipeline();
TrainingRun default_tensor();

/// A program that runs the checks of these sections, which may be none, then `train`: train_and_compare() for each of the
/// trainings. Whoever only needs the lines may leave `train` empty.
std::vector<LabStep> program_steps(const std::vector<Section>& sections, const std::vector<TrainingRun>& trainings,
                                   const StepBody& train);

}  // namespace lab::optc
