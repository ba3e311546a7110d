#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace lab::vae {

/// The network's input: the picture's samples mapped from [0, 255] to [-1, 1], channels first, both sizes rounded up to
/// multiples. Below and to the right the picture is mirrored at its last row and column, which are not repeated; if the
/// picture is too small for that, back and forth; a single row or column is repeated.
/// Shapes    in picture uint8 [H, W, 3]; out float32 [1, 3, ceil(H), ceil(W)]
/// Aliasing  none
/// Errors    ContractError: not a picture, or multiple < 1
/// Example   columns 0 1 2 and multiple 8: 0 1 2 1 0 1 2 1
at::Tensor to_model_input(const at::Tensor& picture, int64_t multiple);

/// The inverse: the first height rows and width columns, clamped to [-1, 1] and rounded to the nearest of 256 values.
/// NaN becomes black. to_picture(to_model_input(p, m), H, W) is p.
/// Shapes    in image floating [1, 3, >= height, >= width], any device; out uint8 [height, width, 3] on the CPU
/// Errors    ContractError: another shape, or sizes below 1
at::Tensor to_picture(const at::Tensor& image, int64_t height, int64_t width);

}  // namespace lab::vae
