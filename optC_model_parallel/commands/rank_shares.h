#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "common/tensor/tensor_map.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model.h"

namespace lab::optc {

/// Which tensors of a model each rank of a run has, whole ones or shards, and how they are packed into one vector.
class RankShares {
 public:
  RankShares(const TrainingRun& run, int num_ranks);

  const ModelSpec& model() const { return model_; }  ///< whole
  int num_ranks() const { return static_cast<int>(shares_.size()); }

  /// The rank's part of the whole model's tensors; `whole` may hold only some of them.
  /// Aliasing  copies, or the same tensors
  TensorMap share_of(const TensorMap& whole, int rank) const;
  /// The whole tensors, from each rank's part.
  /// Errors    ContractError: a rank lacks one
  TensorMap whole(const std::vector<TensorMap>& shares) const;

  /// The rank's tensors one after the other, as float64, padded with zeros to the same length on every rank. A missing
  /// tensor is NaN. `only_learning`: without running statistics.
  at::Tensor flat(const TensorMap& share, int rank, bool only_learning) const;
  TensorMap from_flat(const at::Tensor& flat, int rank, bool only_learning) const;

 private:
  ModelSpec model_;
  std::vector<std::vector<ParameterSpec>> shares_;  ///< with the shapes of shards
  bool split_;                                      ///< tensor parallelism
  std::int64_t longest_ = 0;
};

}  // namespace lab::optc
