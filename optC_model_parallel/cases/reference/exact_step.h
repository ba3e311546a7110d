#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

#include "common/api/tensor_map.h"
#include "optC_model_parallel/model.h"
#include "optC_model_parallel/model/images.h"

namespace lab::optc {

/// The mean loss of a batch and its gradient, of every tensor that learns.
struct ExactStep {
  double loss = 0;
  TensorMap gradient;  ///< float64
};

/// Computed in float64, in one process, from weights of any dtype. `perturbed_by`: a seed; every weight and every pixel
/// gets a random relative error, 2^-16 on average, and every logit's gradient, the difference of a probability and one
/// or zero, an error of 2^-21: for almost certain predictions, few of its float32 digits are right.
ExactStep exact_step(const ModelSpec& model, const TensorMap& weights, const Images& images, const at::Tensor& indices,
                     std::optional<std::uint64_t> perturbed_by = std::nullopt);

}  // namespace lab::optc
