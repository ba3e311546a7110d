#pragma once

#include <memory>

#include "optC_model_parallel/model/training/learner.h"
#include "optC_model_parallel/model/training/training_options.h"
#include "optC_model_parallel/strategy.h"

namespace lab::optc {

/// Each batch as a whole, through all of the learner's layers: the whole ones, or a rank's shard of each, with
/// functions that communicate. Every rank then knows losses and logits.
std::unique_ptr<Strategy> whole_batches(const TrainingOptions& options, Learner learner);

}  // namespace lab::optc
