#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "optC_model_parallel/model/data/images.h"

namespace lab::optc {

/// The function's results for all images, 256 at a time, without gradients: [N, 10]. Undefined if the function returns
/// undefined tensors. Without images, the function is called once, with an empty batch.
/// Call      the function gets x [B, 3, 32, 32]; `on_batch` may be empty
at::Tensor batched_logits(const Images& images, const at::TensorOptions& options,
                          const std::function<at::Tensor(const at::Tensor& x)>& function,
                          const std::function<void()>& on_batch = {});

}  // namespace lab::optc
