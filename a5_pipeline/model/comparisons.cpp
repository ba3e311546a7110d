#include "a5_pipeline/comparisons.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lab::a5 {
namespace {

constexpr double kConfidence = 4;  // for what the analysis leaves out
// In bfloat16 it is generous already: where both computations round the same value, they mostly round the same way.
constexpr double kConfidenceInBfloat16 = 1;
constexpr double kMostRelativeNorm = 0.25;

// How much a relative error grows in a wide layer: with tanh and these weights by the square root of
// 1.5 E[tanh'(s n)^2], n normal, at the s = 0.54 to which the layers' inputs settle. ReLU scales the error as it scales
// the signal.
constexpr double kGrowthWithTanh = 1.02;

/// How much a relative error may grow on its way through all layers. In a layer of finite width the factor varies by
/// about 1 / sqrt(width); the logarithm of their product is a random walk, here taken as two standard deviations long.
double growth(const PipelineArguments& arguments) {
  const auto layers = static_cast<double>(arguments.number_of_layers);
  const auto width = static_cast<double>(std::min(arguments.hidden_size, arguments.intermediate_size));
  const double in_wide_layers = arguments.activation == Activation::kTanh ? std::pow(kGrowthWithTanh, layers) : 1;
  return in_wide_layers * std::exp(2 * std::sqrt(layers / width));
}

/// The relative norm by which two computations of the model are expected to differ.
///
/// One rounding changes a value by at most u relative, u / sqrt(3) as a root mean square; roundings are independent, so
/// their squares add up (Higham and Mary, A new approach to probabilistic rounding error analysis, 2019). A sum of K
/// terms has K roundings, each of a partial sum that is no larger than the whole in the mean: variance K u^2 / 3, in
/// any order. The longest path is that of a gradient: forward through all layers and back again, in each direction
/// through a sum over H and one over I per layer and the activation; then a sum over the B S rows of a micro-batch, and
/// over the m micro-batches. In bfloat16 the sums are computed in float32, and only their results are rounded.
double expected_difference(const PipelineArguments& arguments) {
  const double unit = arguments.dtype == at::kDouble ? 0x1p-53 : arguments.dtype == at::kFloat ? 0x1p-24 : 0x1p-9;
  const double unit_in_sums = arguments.dtype == at::kDouble ? 0x1p-53 : 0x1p-24;
  const auto layer_passes = 2 * static_cast<double>(arguments.number_of_layers);
  const auto terms_of_layer = static_cast<double>(arguments.hidden_size + arguments.intermediate_size);
  const auto rows = static_cast<double>(arguments.micro_batch_size * arguments.sequence_length);
  const double in_sums = layer_passes * terms_of_layer + rows;
  const double of_results = layer_passes * 3 + static_cast<double>(arguments.number_of_micro_batches());
  const double variance = (in_sums * unit_in_sums * unit_in_sums + of_results * unit * unit) / 3;
  return std::sqrt(2 * variance) * growth(arguments);  // both computations round
}

/// What ReLU adds: its derivative jumps where one of its inputs changes sign. Of n normal inputs with a relative error
/// e, a fraction e / pi does; half of all inputs pass, so in each layer this removes 2 e / pi of a gradient's square or
/// adds as much. A single flip can also happen where fewer are expected: then count 4, unless fewer than one in a
/// million runs has any, as in float64 at the usual sizes.
double expected_of_flips(const PipelineArguments& arguments, double difference) {
  constexpr double kPi = 3.14159265358979323846;
  if (arguments.activation == Activation::kTanh) return 0;
  const auto layers = static_cast<double>(arguments.number_of_layers);
  const double num_inputs = layers * static_cast<double>(arguments.global_batch_size * arguments.sequence_length *
                                                         arguments.intermediate_size);
  const double part = difference / kPi;
  if (num_inputs * part < 1e-6) return 0;
  return std::sqrt(2 * layers * std::max(part, 4 / num_inputs));
}

}  // namespace

Tolerance tolerance_of(at::ScalarType dtype) {
  Tolerance tolerance;
  tolerance.rtol = 0;
  tolerance.atol = std::numeric_limits<double>::infinity();  // the norm alone decides
  tolerance.relative_norm = dtype == at::kDouble ? 1e-12 : dtype == at::kFloat ? 1e-6 : 0x1p-7;
  return tolerance;
}

Tolerance tolerance_of(const PipelineArguments& arguments) {
  Tolerance tolerance = tolerance_of(arguments.dtype);
  const double rounding = expected_difference(arguments);
  const double expected = std::hypot(rounding, expected_of_flips(arguments, rounding));
  const double confidence = arguments.dtype == at::kBFloat16 ? kConfidenceInBfloat16 : kConfidence;
  tolerance.relative_norm = std::min(confidence * expected, kMostRelativeNorm);
  return tolerance;
}

}  // namespace lab::a5
