#pragma once

#include <string>

#include "a5_pipeline/arguments.h"
#include "common/pipeline/schedule.h"

namespace lab::a5 {

/// The schedule that takes this model's micro-batches through `num_ranks` ranks with `num_chunks` chunks of layers
/// each; 0 chunks: the kind's usual number.
/// Errors    UsageError: a stage would have no layer; those of pipeline::make_schedule()
pipeline::Schedule model_schedule(const PipelineArguments& arguments, const std::string& kind, int num_chunks,
                                  int num_ranks);

}  // namespace lab::a5
