#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "optC_model_parallel/model/parallel/parallel_strategies.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

std::vector<ParameterSpec> split_parameters(const ModelSpec& model) {
  std::vector<ParameterSpec> all;
  for (const LayerSpec& layer : model.layers) {
    std::copy_if(layer.parameters.begin(), layer.parameters.end(), std::back_inserter(all),
                 [](const ParameterSpec& spec) { return spec.split_dim >= 0; });
  }
  return all;
}

/// What is split over ranks: features, channels, heads.
std::int64_t num_pieces(const ParameterSpec& spec) {
  return spec.shape[static_cast<std::size_t>(spec.split_dim)] / spec.split_unit;
}

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> all;
  for (std::int64_t divisor = 1; divisor <= number; ++divisor) {
    if (number % divisor == 0) all.push_back(divisor);
  }
  return all;
}

}  // namespace

void check_tensor(const TrainingOptions& options, int num_ranks, bool has_model_option) {
  const std::vector<std::string>& names = tensor_model_names();
  if (std::find(names.begin(), names.end(), options.model) == names.end())
    throw UsageError(
        fmt::format("--model {}: expected one of {} for tensor parallelism", options.model, fmt::join(names, ", ")));
  const std::vector<ParameterSpec> split = split_parameters(model_named(options.model));
  const std::int64_t common = std::accumulate(
      split.begin(), split.end(), std::int64_t{0},
      [](std::int64_t divisor, const ParameterSpec& spec) { return std::gcd(divisor, num_pieces(spec)); });
  for (const ParameterSpec& spec : split) {
    if (num_pieces(spec) % num_ranks == 0) continue;
    throw UsageError(
        fmt::format("{}model {}: {} {} cannot be split evenly over {} ranks along dimension {}{}; hint: {} ranks",
                    has_model_option ? "--" : "", options.model, spec.name, shape_text(spec.shape), num_ranks,
                    spec.split_dim, spec.split_unit == 1 ? "" : fmt::format(" in whole pieces of {}", spec.split_unit),
                    fmt::join(divisors(common), ", ")));
  }
}

}  // namespace lab::optc
