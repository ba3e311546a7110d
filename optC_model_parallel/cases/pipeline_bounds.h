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

/// What the given rank computes for a batch, forward and backward: three times the products of its stages' forward
/// passes, and a quarter more for what is not a product.
ShareBound pipeline_work(const StagePlan& plan, int rank, std::int64_t num_images);

/// The makespan of the schedule, and a quarter more for what is not a product and for messages that are awaited in
/// place.
TimeBound pipeline_time(const StagePlan& plan, const std::string& schedule, std::int64_t num_images,
                        std::int64_t num_micro_batches);

}  // namespace lab::optc
