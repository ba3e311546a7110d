#include "common/checks/result_words.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "common/tensor/compare.h"
#include "common/tensor/describe.h"

namespace lab {
namespace {

/// NaN has no sign.
std::string figure_text(double figure) {
  return std::isnan(figure) ? "nan" : fmt::format("{:.6g}", figure);
}

/// Where only the norm decides, elements have no tolerance: names the first that is off by half of the worst.
std::string words_by_norm(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                          const Tolerance& tolerance, const Comparison& found) {
  const std::string figure =
      fmt::format("relative error {:.3g}, expected at most {:.3g}", found.relative_norm, tolerance.relative_norm);
  Tolerance half;
  half.rtol = 0;
  half.atol = found.max_diff / 2;
  const std::optional<FirstDifference> worst = first_difference(actual, expected, half);
  if (!worst) return fmt::format("result '{}': {}", name, figure);
  return fmt::format("result '{}', element {}: expected {}, got {} (max diff {}; {})", name, shape_text(worst->index),
                     worst->expected, worst->actual, figure_text(found.max_diff), figure);
}

}  // namespace

std::string what_is_wrong_with(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                               const Tolerance& tolerance) {
  if (!actual.defined()) return fmt::format("result '{}' is undefined, expected {}", name, describe(expected));
  if (actual.sizes() != expected.sizes() || actual.scalar_type() != expected.scalar_type())
    return fmt::format("result '{}': expected {}, got {}", name, describe(expected), describe(actual));
  const Comparison found = compare(actual, expected, tolerance);
  if (found.close) return "";
  const std::optional<FirstDifference> first = first_difference(actual, expected, tolerance);
  if (!first) return words_by_norm(name, actual, expected, tolerance, found);
  return fmt::format("result '{}', element {}: expected {}, got {} (max diff {}; {} of {} elements differ)", name,
                     shape_text(first->index), first->expected, first->actual, figure_text(found.max_diff),
                     first->num_different, expected.numel());
}

std::string what_is_wrong(const TensorMap& actual, const TensorMap& expected, const Tolerance& tolerance) {
  for (const auto& [name, tensor] : expected) {
    const auto found = actual.find(name);
    if (found == actual.end()) return fmt::format("result '{}' is missing", name);
    const std::string wrong = what_is_wrong_with(name, found->second, tensor, tolerance);
    if (!wrong.empty()) return wrong;
  }
  for (const auto& [name, tensor] : actual) {
    if (expected.count(name) == 0) return fmt::format("result '{}' is not one of this task's", name);
  }
  return "";
}

}  // namespace lab
