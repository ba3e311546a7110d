#pragma once

#include "common/checks/case.h"
#include "optC_model_parallel/commands/training_options.h"
#include "optC_model_parallel/model/data/images.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"

// The inputs of cases that train a pipeline.
namespace lab::optc {

/// A small model cut into uneven stages, the same on every rank.
StagePlan uneven_plan(int num_ranks, int num_chunks);

/// Options, images, and the weights of the plan above, which follow from the seed.
CaseInputs pipeline_inputs(const PipelineOptions& options, const Images& images, const CasePlace& place);

PipelineOptions pipeline_options_of(const CaseInputs& inputs);

/// On the CPU, where pipelines are trained.
Images images_of(const CaseInputs& inputs);

/// One integer as a result.
at::Tensor count_of(std::int64_t value);

}  // namespace lab::optc
