#include "common/api/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/api/errors.h"
#include "common/api/shapes.h"

namespace lab {
namespace {

double worse(double left, double right) {
  return std::isnan(left) || left > right ? left : right;
}

}  // namespace

void CombinedComparison::add(const Comparison& one, std::int64_t numel) {
  worst_.close = worst_.close && one.close;
  worst_.max_diff = worse(worst_.max_diff, one.max_diff);
  worst_.relative_norm = worse(worst_.relative_norm, one.relative_norm);
  sum_ += one.mean_diff * static_cast<double>(numel);
  count_ += numel;
}

void CombinedComparison::add_missing(std::int64_t numel) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  add({false, nan, nan, nan}, numel);
}

Comparison CombinedComparison::result() const {
  Comparison all = worst_;
  all.mean_diff = count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
  return all;
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void require_comparable(const at::Tensor& actual, const at::Tensor& expected) {
  if (comparable(actual, expected)) return;
  throw ContractError(
      fmt::format("The tensors cannot be compared: expected {}, got {}.", describe(expected), describe(actual)));
}

/// The values in the dtype they are compared in: float32, float64 or int64.
at::Tensor comparable_values(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().to(at::kCPU);
  if (values.is_complex()) return at::view_as_real(values.resolve_conj());
  const at::ScalarType dtype = values.scalar_type();
  if (dtype == at::kFloat || dtype == at::kDouble) return values;
  return values.to(values.is_floating_point() ? at::kDouble : at::kLong).contiguous();
}

at::Tensor close_elements(const at::Tensor& actual, const at::Tensor& expected, const Tolerance& tolerance) {
  if (expected.scalar_type() == at::kLong) return actual.eq(expected);
  return at::isclose(actual, expected, tolerance.rtol, tolerance.atol);
}

/// ||actual - expected|| and ||expected||, both divided by `scale`: squares of large values overflow and of small ones
/// vanish.
struct Norms {
  double error = 0;
  double reference = 0;
  double scale = 1;

  double quotient() const {
    if (reference == 0) return error == 0 ? 0 : error * kInfinity;  // NaN stays NaN
    return error / reference;
  }
};

Norms compute_norms(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor equal = actual.eq(expected);
  // inf - inf is NaN: equal elements differ by 0 whatever they are, and equal infinities say nothing about the rest.
  const at::Tensor error = (actual.to(at::kDouble) - expected.to(at::kDouble)).masked_fill_(equal, 0);
  const at::Tensor reference = expected.to(at::kDouble).masked_fill(equal.logical_and(expected.isinf()), 0);
  const double largest = reference.abs().max().item<double>();
  if (largest == 0) return {error.abs().max().item<double>() == 0 ? 0 : error.norm().item<double>(), 0, 1};
  const double scale = std::isfinite(largest) ? largest : 1;
  return {(error / scale).norm().item<double>(), (reference / scale).norm().item<double>(), scale};
}

/// What was found, and the norms behind relative_norm.
struct FloatComparison {
  Comparison comparison;
  Norms norms;
};

FloatComparison compare_floats(const at::Tensor& actual, const at::Tensor& expected, const Tolerance& tolerance) {
  const at::Tensor diff = (actual - expected).abs_().masked_fill_(actual.eq(expected), 0);
  FloatComparison found;
  found.norms = compute_norms(actual, expected);
  Comparison& result = found.comparison;
  result.max_diff = diff.max().item<double>();
  result.mean_diff = diff.mean().item<double>();
  result.relative_norm = found.norms.quotient();
  result.close =
      close_elements(actual, expected, tolerance).all().item<bool>() && result.relative_norm <= tolerance.relative_norm;
  return found;
}

/// Above kElementsInOnePiece elements, floats are compared in pieces of kElementsOfPiece: a comparison makes several
/// float64 copies. Not below: a mean of pieces rounds differently, and its digits must be Python's.
constexpr int64_t kElementsInOnePiece = int64_t{1} << 24;
constexpr int64_t kElementsOfPiece = int64_t{1} << 21;

Comparison compare_in_pieces(const at::Tensor& actual, const at::Tensor& expected, const Tolerance& tolerance) {
  const at::Tensor got = actual.detach().reshape(-1), want = expected.detach().reshape(-1);
  Tolerance of_elements = tolerance;
  of_elements.relative_norm = kInfinity;
  CombinedComparison pieces;
  Norms norms;
  for (int64_t begin = 0; begin < want.numel(); begin += kElementsOfPiece) {
    const int64_t count = std::min(kElementsOfPiece, want.numel() - begin);
    const FloatComparison piece = compare_floats(comparable_values(got.narrow(0, begin, count)),
                                                 comparable_values(want.narrow(0, begin, count)), of_elements);
    pieces.add(piece.comparison, count);
    norms.error = std::hypot(norms.error, piece.norms.error * piece.norms.scale);
    norms.reference = std::hypot(norms.reference, piece.norms.reference * piece.norms.scale);
  }
  Comparison all = pieces.result();
  all.relative_norm = norms.quotient();
  all.close = all.close && all.relative_norm <= tolerance.relative_norm;
  return all;
}

Comparison compare_integers(const at::Tensor& actual, const at::Tensor& expected) {
  const int64_t* got = actual.data_ptr<int64_t>();
  const int64_t* want = expected.data_ptr<int64_t>();
  uint64_t max_gap = 0;
  double sum = 0, squares = 0, reference_squares = 0;
  for (int64_t i = 0; i < actual.numel(); ++i) {
    // Unsigned: the distance between two int64 values does not always fit into an int64.
    const auto larger = static_cast<uint64_t>(std::max(got[i], want[i]));
    const uint64_t gap = larger - static_cast<uint64_t>(std::min(got[i], want[i]));
    max_gap = std::max(max_gap, gap);
    sum += static_cast<double>(gap);
    squares += static_cast<double>(gap) * static_cast<double>(gap);
    reference_squares += static_cast<double>(want[i]) * static_cast<double>(want[i]);
  }
  Comparison result;
  result.close = max_gap == 0;
  result.max_diff = static_cast<double>(max_gap);
  result.mean_diff = sum / static_cast<double>(actual.numel());
  if (max_gap > 0) result.relative_norm = reference_squares > 0 ? std::sqrt(squares / reference_squares) : kInfinity;
  return result;
}

std::string element_text(at::Tensor values, at::IntArrayRef index, bool is_bool) {
  for (const int64_t i : index) values = values.select(0, i);
  if (is_bool) return values.item<int64_t>() != 0 ? "True" : "False";
  if (values.scalar_type() == at::kLong) return fmt::format("{}", values.item<int64_t>());
  if (values.scalar_type() == at::kFloat) return fmt::format("{}", values.item<float>());
  return fmt::format("{}", values.item<double>());
}

}  // namespace

bool comparable(const at::Tensor& actual, const at::Tensor& expected) {
  return actual.defined() && expected.defined() && actual.sizes() == expected.sizes() &&
         actual.scalar_type() == expected.scalar_type();
}

Comparison compare(const at::Tensor& actual, const at::Tensor& expected, const Tolerance& tolerance) {
  require_comparable(actual, expected);
  // What is equal needs no figures; NaN is not equal, and is found below.
  if (expected.numel() == 0 || (actual.device() == expected.device() && actual.equal(expected)))
    return Comparison{true, 0, 0, 0};
  const bool floats = expected.is_floating_point() && !expected.is_complex();
  if (floats && expected.numel() > kElementsInOnePiece) return compare_in_pieces(actual, expected, tolerance);
  const at::Tensor got = comparable_values(actual);
  const at::Tensor want = comparable_values(expected);
  return want.scalar_type() == at::kLong ? compare_integers(got, want)
                                         : compare_floats(got, want, tolerance).comparison;
}

std::optional<FirstDifference> first_difference(const at::Tensor& actual, const at::Tensor& expected,
                                                const Tolerance& tolerance) {
  require_comparable(actual, expected);
  const at::Tensor got = comparable_values(actual);
  const at::Tensor want = comparable_values(expected);
  const at::Tensor different = close_elements(got, want, tolerance).logical_not().nonzero();
  if (different.size(0) == 0) return std::nullopt;
  const at::Tensor row = different.select(0, 0).contiguous();
  FirstDifference first;
  first.index.assign(row.data_ptr<int64_t>(), row.data_ptr<int64_t>() + row.numel());
  const bool is_bool = expected.scalar_type() == at::kBool;
  first.expected = element_text(want, first.index, is_bool);
  first.actual = element_text(got, first.index, is_bool);
  first.num_different = different.size(0);
  return first;
}

}  // namespace lab
