#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "optC_model_parallel/model/data/images.h"
#include "optC_model_parallel/model/training/checkpoint.h"
#include "optC_model_parallel/model/training/training_options.h"
#include "optC_model_parallel/model/training/training_record.h"
#include "optC_model_parallel/strategy.h"

namespace lab::optc {

/// Callbacks of a training. All may be empty.
struct TrainingEvents {
  std::function<void(const std::string& note)> on_note;                     ///< for the user, about a resumption
  std::function<void(std::int64_t num_images, double loss)> on_step;        ///< where the loss is known
  std::function<void(std::int64_t epoch, const TrainingRecord&)> on_epoch;  ///< from 1
  OnBatch on_batch;                                                         ///< of an evaluation
};

/// Trains for all epochs and returns the record. With checkpoints: resumes from the newest, and writes one every
/// CheckpointOptions::every steps and at the end of each epoch; the record is that of an uninterrupted run.
/// Call      collective where the strategy is
/// Errors    UsageError: a loss that is not finite, with epoch and step ("the loss is nan at step 17 (epoch 1, batch 17
///           of 80); hint: a lower --lr"); no image to train on, or none in a batch; a checkpoint of more steps than
///           asked for; those of the strategy and the checkpoints
TrainingRecord run_training(const TrainingOptions& options, const Dataset& data, Strategy& strategy,
                            Checkpoints* checkpoints, const TrainingEvents& events);

}  // namespace lab::optc
