#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "a5_pipeline/arguments.h"

namespace lab::a5 {

/// The micro-batches of one global batch, uniform in [0, 1), each different, the same on every rank that has the
/// loader. Made on request, on the CPU: a rank that never asks holds none.
class DataLoader {
 public:
  explicit DataLoader(const PipelineArguments& arguments);

  /// The loader of a stage that must not have one: every request is an error.
  static DataLoader none(const PipelineArguments& arguments);

  /// The next micro-batch.
  /// Shapes    [B, S, H], no gradient
  /// Errors    ContractError: all micro-batches were fetched; the loader is none()
  at::Tensor next();

  /// Micro-batch i.
  /// Errors    as next()
  at::Tensor micro_batch(std::int64_t i) const;

  std::int64_t size() const { return arguments_.number_of_micro_batches(); }

 private:
  PipelineArguments arguments_;
  std::int64_t next_ = 0;
  bool refuses_ = false;
};

/// Q6. Whether this stage of the pipeline needs the training data, given that the loss needs no labels.
/// Call      local
bool requires_dataloader(int pp_rank, int pp_size);

}  // namespace lab::a5
