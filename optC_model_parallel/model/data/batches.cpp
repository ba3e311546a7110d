#include "optC_model_parallel/model/data/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/api/errors.h"

namespace lab::optc {

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

at::Tensor normalized(const Images& images, const at::Tensor& indices, const at::TensorOptions& options) {
  return images.pixels.index_select(0, indices).to(options.device()).to(options).div_(255).sub_(0.5).div_(0.5);
}

at::Tensor labels_of(const Images& images, const at::Tensor& indices) {
  return images.labels.index_select(0, indices);
}

}  // namespace lab::optc
