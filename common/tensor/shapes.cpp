#include "common/api/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/api/errors.h"

namespace lab {
namespace {

using NamedDtype = std::pair<std::string_view, at::ScalarType>;
constexpr std::array<NamedDtype, 12> kDtypes = {{
    {"float32", at::kFloat},
    {"float64", at::kDouble},
    {"float16", at::kHalf},
    {"bfloat16", at::kBFloat16},
    {"int8", at::kChar},
    {"uint8", at::kByte},
    {"int16", at::kShort},
    {"int32", at::kInt},
    {"int64", at::kLong},
    {"bool", at::kBool},
    {"complex64", at::kComplexFloat},
    {"complex128", at::kComplexDouble},
}};

}  // namespace

std::string shape_text(at::IntArrayRef shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

std::string_view dtype_name(at::ScalarType dtype) {
  const auto found =
      std::find_if(kDtypes.begin(), kDtypes.end(), [&](const auto& known) { return known.second == dtype; });
  return found == kDtypes.end() ? at::toString(dtype) : found->first;
}

at::ScalarType parse_dtype(std::string_view name) {
  const auto found =
      std::find_if(kDtypes.begin(), kDtypes.end(), [&](const auto& known) { return known.first == name; });
  if (found != kDtypes.end()) return found->second;
  std::string known_names;
  for (const auto& [known, dtype] : kDtypes) known_names += (known_names.empty() ? "" : ", ") + std::string(known);
  throw UsageError(fmt::format("'{}' is not a dtype: expected one of {}.", name, known_names));
}

std::string describe(const at::Tensor& tensor) {
  if (!tensor.defined()) return "undefined tensor";
  return fmt::format("{} {}", dtype_name(tensor.scalar_type()), shape_text(tensor.sizes()));
}

void check(const at::Tensor& tensor, at::IntArrayRef expected_shape) {
  if (!tensor.defined()) return;
  const at::IntArrayRef shape = tensor.sizes();
  if (shape.size() != expected_shape.size()) {
    throw ContractError(fmt::format("SHAPE GUARD: Expected shape length {} but got {} with shape {}.",
                                    expected_shape.size(), shape.size(), shape_text(shape)));
  }
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (expected_shape[dim] <= 0 || expected_shape[dim] == shape[dim]) continue;
    throw ContractError(fmt::format("SHAPE GUARD: At dimension {}: expected {}, but got {} (actual shape: {}).", dim,
                                    expected_shape[dim], shape[dim], shape_text(shape)));
  }
}

}  // namespace lab
