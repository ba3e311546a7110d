#include "optC_model_parallel/model/data/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/errors.h"
#include "common/tensor/mixing.h"
#include "optC_model_parallel/model/data/portable_random.h"

namespace lab::optc {

std::vector<std::int64_t> epoch_order(std::int64_t num_images, std::uint64_t seed, std::int64_t epoch) {
  if (num_images < 0) throw ContractError(fmt::format("An epoch has 0 images or more, got {}.", num_images));
  std::vector<std::int64_t> order(static_cast<std::size_t>(num_images));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  PortableRandom random(splitmix64(seed) + static_cast<std::uint64_t>(epoch));
  // Fisher-Yates: positions after `last` are done; any of the others may still be drawn for `last`.
  for (std::int64_t last = num_images - 1; last > 0; --last) {
    const std::int64_t drawn = random.between(0, last);
    std::swap(order[static_cast<std::size_t>(drawn)], order[static_cast<std::size_t>(last)]);
  }
  return order;
}

EpochBatches::EpochBatches(std::int64_t num_images, std::int64_t batch_size, std::uint64_t seed, std::int64_t epoch)
    : EpochBatches(at::tensor(epoch_order(num_images, seed, epoch), at::kLong), batch_size) {}

EpochBatches::EpochBatches(at::Tensor order, std::int64_t batch_size)
    : order_(std::move(order)), batch_size_(batch_size) {
  if (batch_size < 1) throw ContractError(fmt::format("A batch must have at least 1 image, got {}.", batch_size));
}

std::int64_t EpochBatches::size() const {
  return num_batches(order_.size(0), batch_size_);
}

at::Tensor EpochBatches::indices(std::int64_t batch) const {
  if (batch < 0 || batch >= size())
    throw ContractError(fmt::format("The epoch has the batches 0 to {}: there is no batch {}.", size() - 1, batch));
  const std::int64_t begin = batch * batch_size_;
  return order_.narrow(0, begin, std::min(batch_size_, order_.size(0) - begin));
}

std::int64_t num_batches(std::int64_t num_images, std::int64_t batch_size) {
  return (num_images + batch_size - 1) / batch_size;
}

at::Tensor normalized(const Images& images, const at::Tensor& indices, at::ScalarType dtype) {
  return images.pixels.index_select(0, indices).to(dtype).div_(255).sub_(0.5).div_(0.5);
}

at::Tensor labels_of(const Images& images, const at::Tensor& indices) {
  return images.labels.index_select(0, indices);
}

}  // namespace lab::optc
