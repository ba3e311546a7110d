#pragma once

#include <cstdint>

#include "common/rank/task_call.h"
#include "optC_model_parallel/model.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/parallel/strategies.h"

// What a case's inputs mean. Images are on the CPU, what is computed from them where the case is run.
namespace lab::optc {

PipelineOptions make_pipeline_options(const CaseInputs& inputs);

/// "input.pixels" and "input.labels".
Images make_images(const CaseInputs& inputs);

/// "input.train.pixels", "input.train.labels", "input.test.pixels", "input.test.labels"; and back.
TensorMap make_inputs(const Dataset& data);
Dataset make_dataset(const CaseInputs& inputs);

/// What the inputs say that a model is computed in and on: float32 if "is_float32" is 1, or else float64.
at::TensorOptions make_tensor_options(const CaseInputs& inputs);

/// The weights of these layers, each "weight.<name>", as make_tensor_options(inputs), as new leaves.
/// Errors    UsageError: one is missing, or has another shape or dtype
Parameters read_weights(const ModelSpec& layers, const CaseInputs& inputs);

/// One integer as a result.
at::Tensor make_count(std::int64_t value);

}  // namespace lab::optc
