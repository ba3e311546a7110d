#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

#include "common/tensor/tensor_map.h"
#include "optC_model_parallel/model.h"
#include "optC_model_parallel/model/data/images.h"

namespace lab::optc {

/// The mean loss of a batch and its gradient, of every tensor that learns.
struct ExactStep {
  double loss = 0;
  TensorMap gradient;  ///< float64
};

/// Computed in float64, in one process, from weights of any dtype. `perturbed_by`: with every weight and every pixel
/// off by a relative error of its own, 2^-16 on average, drawn by that seed; and every logit's gradient, the difference
/// of a probability and one or zero, by 2^-21: where answers are almost certain, few of its float32 digits are right.
ExactStep exact_step(const ModelSpec& model, const TensorMap& weights, const Images& images, const at::Tensor& indices,
                     std::optional<std::uint64_t> perturbed_by = std::nullopt);

}  // namespace lab::optc
