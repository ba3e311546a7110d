#pragma once

#include <cstdint>

#include "optC_model_parallel/model.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"

namespace lab::optc {

/// A model for checks: the given number of layers, all small, each of a different width, so that the messages between
/// two stages are unlike those between any others. Layers are smooth: a wrong gradient is wrong everywhere.
ModelSpec chain_model(std::int64_t num_layers);

/// Such a model cut into uneven stages, the same on every rank.
StagePlan uneven_plan(int num_ranks, int num_chunks);

}  // namespace lab::optc
