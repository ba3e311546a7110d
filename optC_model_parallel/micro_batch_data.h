#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "common/tensor/partition.h"
#include "optC_model_parallel/images.h"

namespace lab::optc {

/// The micro-batches of some batches, numbered through: batch b has those from b * m to b * m + m - 1. A micro-batch's
/// tensors are made when asked for: nothing here is as large as a batch but the list of its images.
class MicroBatchData {
 public:
  /// Each batch as the indices [B] of its images, cut by micro_batches(). The images must outlive it.
  /// Errors    ContractError: micro_batches() makes more or fewer than it should
  MicroBatchData(const Images& images, std::vector<at::Tensor> batches, std::int64_t per_batch, at::ScalarType dtype);

  std::int64_t num_micro_batches() const { return static_cast<std::int64_t>(batches_.size()) * per_batch_; }
  std::int64_t per_batch() const { return per_batch_; }
  at::ScalarType dtype() const { return dtype_; }

  std::int64_t size(std::int64_t micro_batch) const;        ///< its images; may be 0
  std::int64_t batch_size(std::int64_t micro_batch) const;  ///< those of its whole batch
  at::Tensor pixels(std::int64_t micro_batch) const;        ///< normalized()
  at::Tensor labels(std::int64_t micro_batch) const;

 private:
  const Slice& slice(std::int64_t micro_batch) const;
  at::Tensor indices(std::int64_t micro_batch) const;
  const at::Tensor& batch(std::int64_t micro_batch) const;

  const Images& images_;
  std::vector<at::Tensor> batches_;
  std::vector<std::vector<Slice>> slices_;  ///< of each batch
  std::int64_t per_batch_;
  at::ScalarType dtype_;
};

}  // namespace lab::optc
