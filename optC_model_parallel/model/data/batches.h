#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "common/api/partition.h"
#include "optC_model_parallel/model/data/images.h"

namespace lab::optc {

/// The order of the images in an epoch: a shuffle that depends only on these numbers, on any machine.
std::vector<std::int64_t> epoch_order(std::int64_t num_images, std::uint64_t seed, std::int64_t epoch);

/// Which images each batch of an epoch has. Of 130 images in batches of 64 the last batch has 2.
class EpochBatches {
 public:
  /// Errors    ContractError: a negative number of images, a batch size below 1
  EpochBatches(std::int64_t num_images, std::int64_t batch_size, std::uint64_t seed, std::int64_t epoch);
  /// With the caller's order, [N] int64, in which an image may occur several times.
  EpochBatches(at::Tensor order, std::int64_t batch_size);

  std::int64_t size() const;                     ///< number of batches
  at::Tensor indices(std::int64_t batch) const;  ///< [B] int64, a view

 private:
  at::Tensor order_;
  std::int64_t batch_size_;
};

/// The number of batches of an epoch.
std::int64_t num_batches(std::int64_t num_images, std::int64_t batch_size);

/// These images as a model's input: [B, 3, 32, 32], pixels from -1 to 1, (x / 255 - 0.5) / 0.5.
at::Tensor normalized(const Images& images, const at::Tensor& indices, const at::TensorOptions& options);

/// [B] int64
at::Tensor labels_of(const Images& images, const at::Tensor& indices);

}  // namespace lab::optc
