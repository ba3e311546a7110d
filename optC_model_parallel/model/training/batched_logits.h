#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "optC_model_parallel/model/data/images.h"

namespace lab::optc {

/// What a function makes of all images, 256 at a time, without gradients: [N, 10]. Undefined where the function's
/// answers are. Of no images it makes nothing: then it is called once, with none.
/// Call      the function gets x [B, 3, 32, 32]; `on_batch` may be empty
at::Tensor batched_logits(const Images& images, at::ScalarType dtype,
                          const std::function<at::Tensor(const at::Tensor& x)>& function,
                          const std::function<void()>& on_batch = {});

}  // namespace lab::optc
