#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"

namespace lab::optc {

/// What the given rank of a pipeline sends and receives: each micro-batch once over each border between stages of
/// different ranks, in each direction, as float64; no other message, and no collective.
std::vector<CostBound> pipeline_bounds(const std::string& task, const StagePlan& plan, int rank,
                                       std::int64_t num_images, std::int64_t num_micro_batches);

}  // namespace lab::optc
