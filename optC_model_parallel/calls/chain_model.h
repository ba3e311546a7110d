#pragma once

#include <cstdint>

#include "common/rank/task_call.h"
#include "optC_model_parallel/model.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"

namespace lab::optc {

/// A model for checks: the given number of layers, all small, each of a different width, so that the messages between
/// two stages are unlike those between any others. Layers are smooth: a wrong gradient is wrong everywhere.
ModelSpec chain_model(std::int64_t num_layers);

/// Such a model cut into uneven stages, the same on every rank.
StagePlan uneven_plan(int num_ranks, int num_chunks);

/// Another one, of wide layers, in stages of so many, which compute for equally long, and many times as long as their
/// messages take in model time.
StagePlan long_plan(int num_ranks, int num_chunks, std::int64_t layers_per_stage);

/// The plan that the inputs name by "num_chunks" and "long_layers": of each stage of a long_plan(), or 0.
StagePlan plan_of_trial(const CaseInputs& inputs, int num_ranks);

}  // namespace lab::optc
