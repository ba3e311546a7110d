#pragma once

#include <cstdint>

#include "common/rank/task_call.h"
#include "optC_model_parallel/model.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/parallel/strategies.h"

// What a case's inputs mean. Images are on the CPU, what is computed from them where the case is run.
namespace lab::optc {

PipelineOptions pipeline_options_of(const CaseInputs& inputs);

/// "input.pixels" and "input.labels".
Images images_of(const CaseInputs& inputs);

/// "input.train.pixels", "input.train.labels", "input.test.pixels", "input.test.labels"; and back.
TensorMap inputs_of(const Dataset& data);
Dataset dataset_of(const CaseInputs& inputs);

/// What the inputs say that a model is computed in and on: float32 if "is_float32" is 1, or else float64.
at::TensorOptions tensor_options_of(const CaseInputs& inputs);

/// The weights of these layers, each "weight.<name>", as tensor_options_of(inputs), as new leaves.
/// Errors    UsageError: one is missing, or has another shape or dtype
Parameters weights_of(const ModelSpec& layers, const CaseInputs& inputs);

/// One integer as a result.
at::Tensor count_of(std::int64_t value);

}  // namespace lab::optc
