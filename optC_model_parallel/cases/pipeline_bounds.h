#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"
#include "optC_model_parallel/model/training.h"

namespace lab::optc {

/// One batch, or several one after the other, through a pipeline.
struct PipelineLoad {
  StagePlan plan;
  PipelineOptions options;
  std::int64_t num_images = 0;
  std::int64_t num_micro_batches = 0;  ///< in all, of equal size or one more
  at::ScalarType dtype = at::kDouble;
};

/// What the given rank of a pipeline sends and receives: each micro-batch once over each border between stages of
/// different ranks, in each direction; no other message, and no collective.
std::vector<CostBound> pipeline_bounds(const std::string& task, const PipelineLoad& load, int rank);

/// What the given rank computes for them, forward and backward: three times the products of its stages' forward passes,
/// or four times with recomputation, and a quarter more for what is not a product.
ShareBound pipeline_work(const PipelineLoad& load, int rank);

/// What the given rank holds: its layers' weights and their gradients, twice the largest layer for what is made on the
/// way; of each live micro-batch, of which it may have so many, what autograd keeps: the input of each layer, and the
/// last one's output. With recomputation, of each only the stage's input, and its output, which may still be on its way.
/// Two micro-batches more, for what is being computed and its messages; six for each further stage of the rank, whose
/// messages to and from both sides may be under way as well, some posted early; on the first rank the pixels of one.
ShareBound pipeline_memory(const PipelineLoad& load, int rank, std::int64_t num_live);

/// The makespan of the schedule, and a quarter more for what is not a product and for messages that are awaited in
/// place.
TimeBound pipeline_time(const PipelineLoad& load, const std::string& schedule);

}  // namespace lab::optc
