#include "optC_model_parallel/commands/training_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/api/compare.h"
#include "common/api/errors.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

at::Tensor as_one_vector(const TensorMap& tensors) {
  std::vector<at::Tensor> parts;
  for (const auto& named_tensor : tensors) parts.push_back(named_tensor.second.flatten());
  return parts.empty() ? at::empty({0}, at::kDouble) : at::cat(parts);
}

/// The losses of the first steps, with NaN for each missing one.
at::Tensor first_losses(const std::vector<double>& losses, std::int64_t num_steps) {
  std::vector<double> first(static_cast<std::size_t>(num_steps), std::numeric_limits<double>::quiet_NaN());
  std::copy_n(losses.begin(), std::min(first.size(), losses.size()), first.begin());
  return at::tensor(first, at::kDouble);
}

}  // namespace

Comparison compare_parameters(const TensorMap& own, const TensorMap& expected, double relative_norm) {
  for (const auto& [name, tensor] : expected) {
    const auto found = own.find(name);
    if (found == own.end() || found->second.sizes() != tensor.sizes())
      throw ContractError(
          fmt::format("parameter {}: expected it as the reference has it, got none or another shape", name));
  }
  return compare(as_one_vector(own), as_one_vector(expected), {0, kInfinity, relative_norm});
}

Comparison compare_losses(const std::vector<double>& own, const std::vector<double>& expected, double relative) {
  const auto num_steps = static_cast<std::int64_t>(expected.size());
  return compare(first_losses(own, num_steps), first_losses(expected, num_steps), {relative, 0, kInfinity});
}

double largest_loss_difference(const std::vector<double>& own, const std::vector<double>& expected,
                               std::int64_t num_steps) {
  if (num_steps == 0) return 0;
  const at::Tensor reference = first_losses(expected, num_steps);
  return ((first_losses(own, num_steps) - reference) / reference).abs().max().item<double>();
}

TensorMap expected_share(const TrainingRun& run, const TensorMap& own, const TensorMap& reference, int rank,
                         int num_ranks) {
  TensorMap share;
  for (const LayerSpec& layer : model_named(run.training.model).layers) {
    for (const ParameterSpec& spec : layer.parameters) {
      if (run.parallelism == Parallelism::kTensor) {
        share[spec.name] = shard_of(spec, reference.at(spec.name), rank, num_ranks);
      } else if (own.count(spec.name) != 0) {
        share[spec.name] = reference.at(spec.name);
      }
    }
  }
  return share;
}

}  // namespace lab::optc
