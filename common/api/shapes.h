#pragma once

#include <ATen/ATen.h>

#include <string>
#include <string_view>

// Checks the shapes of tensors, and prints shapes and dtypes as Python does.
namespace lab {

/// Checks that the tensor has the expected shape; an expected size of 0 or less allows any size there, and an undefined
/// tensor always passes.
/// Errors    ContractError: "SHAPE GUARD: ...", the handout's message for a wrong number of dimensions or a wrong size
/// Example   check(x, {32, -1, 10})
void check(const at::Tensor& tensor, at::IntArrayRef expected_shape);

/// A shape as Python prints a list.
/// Example   "[32, 64]"; "[]" for a scalar
std::string shape_text(at::IntArrayRef shape);

/// The dtype's name in Python.
/// Example   at::kFloat: "float32"
std::string_view dtype_name(at::ScalarType dtype);

/// The dtype that dtype_name() calls so.
/// Errors    UsageError: not the name of a dtype that the labs use; the message lists those
at::ScalarType parse_dtype(std::string_view name);

/// The dtype and the shape, for messages.
/// Example   "float32 [2, 3]"; "undefined tensor"
std::string describe(const at::Tensor& tensor);

}  // namespace lab
