#include "optC_model_parallel/commands/rank_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/base/errors.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

std::int64_t num_elements(const ParameterSpec& spec) {
  std::int64_t count = 1;
  for (const std::int64_t size : spec.shape) count *= size;
  return count;
}

std::vector<ParameterSpec> parameters_of(const ModelSpec& model) {
  std::vector<ParameterSpec> all;
  for (const LayerSpec& layer : model.layers) all.insert(all.end(), layer.parameters.begin(), layer.parameters.end());
  return all;
}

}  // namespace

RankShares::RankShares(const TrainingRun& run, int num_ranks)
    : model_(model_named(run.training.model)), split_(run.parallelism == Parallelism::kTensor) {
  for (int rank = 0; rank < num_ranks; ++rank) {
    if (split_) {
      shares_.push_back(parameters_of(model_));
      for (ParameterSpec& spec : shares_.back()) {
        if (spec.split_dim >= 0) spec.shape[static_cast<std::size_t>(spec.split_dim)] /= num_ranks;
      }
    } else {
      const StagePlan plan = balanced_plan(model_, num_ranks, run.pipeline.num_chunks);
      shares_.push_back(parameters_of(layers_of_rank(plan, rank)));
    }
    std::int64_t length = 0;
    for (const ParameterSpec& spec : shares_.back()) length += num_elements(spec);
    longest_ = std::max(longest_, length);
  }
}

TensorMap RankShares::share_of(const TensorMap& whole, int rank) const {
  if (split_) return shard_of(model_, whole, rank, num_ranks());
  TensorMap share;
  for (const ParameterSpec& spec : shares_[static_cast<std::size_t>(rank)]) {
    const auto found = whole.find(spec.name);
    if (found != whole.end()) share[spec.name] = found->second;
  }
  return share;
}

TensorMap RankShares::whole(const std::vector<TensorMap>& shares) const {
  TensorMap all;
  for (const ParameterSpec& spec : parameters_of(model_)) {
    std::vector<at::Tensor> parts;
    for (const TensorMap& share : shares) {
      const auto found = share.find(spec.name);
      if (found != share.end() && (parts.empty() || (split_ && spec.split_dim >= 0))) parts.push_back(found->second);
    }
    if (parts.empty()) throw ContractError(fmt::format("expected '{}' on one of the ranks, found none", spec.name));
    all[spec.name] = parts.size() == 1 ? parts.front() : at::cat(parts, spec.split_dim);
  }
  return all;
}

at::Tensor RankShares::flat(const TensorMap& share, int rank, bool only_learning) const {
  const at::Tensor all = at::zeros({longest_}, at::kDouble);
  std::int64_t begin = 0;
  for (const ParameterSpec& spec : shares_[static_cast<std::size_t>(rank)]) {
    if (only_learning && !spec.learns) continue;
    const std::int64_t count = num_elements(spec);
    const auto found = share.find(spec.name);
    if (found == share.end()) {
      all.narrow(0, begin, count).fill_(std::numeric_limits<double>::quiet_NaN());
    } else {
      all.narrow(0, begin, count).copy_(found->second.flatten());
    }
    begin += count;
  }
  return all;
}

TensorMap RankShares::from_flat(const at::Tensor& flat, int rank, bool only_learning) const {
  TensorMap share;
  std::int64_t begin = 0;
  for (const ParameterSpec& spec : shares_[static_cast<std::size_t>(rank)]) {
    if (only_learning && !spec.learns) continue;
    share[spec.name] = flat.narrow(0, begin, num_elements(spec)).view(spec.shape);
    begin += num_elements(spec);
  }
  return share;
}

}  // namespace lab::optc
