#include "optC_model_parallel/micro_batch_data.h"

#include <fmt/format.h>

#include <utility>

#include "common/report/errors.h"
#include "optC_model_parallel/batches.h"
#include "optC_model_parallel/micro_batches.h"

namespace lab::optc {

MicroBatchData::MicroBatchData(const Images& images, std::vector<at::Tensor> batches, std::int64_t per_batch,
                               at::ScalarType dtype)
    : images_(images), batches_(std::move(batches)), per_batch_(per_batch), dtype_(dtype) {
  for (const at::Tensor& indices : batches_) {
    slices_.push_back(micro_batches(indices.size(0), per_batch));
    const auto count = static_cast<std::int64_t>(slices_.back().size());
    if (count != per_batch)
      throw ContractError(
          fmt::format("micro_batches: expected {} micro-batches of {} images, got {}; hint: some may be "
                      "empty",
                      per_batch, indices.size(0), count));
  }
}

std::int64_t MicroBatchData::size(std::int64_t micro_batch) const {
  return slice(micro_batch).size;
}

std::int64_t MicroBatchData::batch_size(std::int64_t micro_batch) const {
  return batch(micro_batch).size(0);
}

at::Tensor MicroBatchData::pixels(std::int64_t micro_batch) const {
  return normalized(images_, indices(micro_batch), dtype_);
}

at::Tensor MicroBatchData::labels(std::int64_t micro_batch) const {
  return labels_of(images_, indices(micro_batch));
}

const Slice& MicroBatchData::slice(std::int64_t micro_batch) const {
  return slices_.at(static_cast<std::size_t>(micro_batch / per_batch_))
      .at(static_cast<std::size_t>(micro_batch % per_batch_));
}

at::Tensor MicroBatchData::indices(std::int64_t micro_batch) const {
  const Slice& part = slice(micro_batch);
  return batch(micro_batch).narrow(0, part.begin, part.size);
}

const at::Tensor& MicroBatchData::batch(std::int64_t micro_batch) const {
  return batches_.at(static_cast<std::size_t>(micro_batch / per_batch_));
}

}  // namespace lab::optc
