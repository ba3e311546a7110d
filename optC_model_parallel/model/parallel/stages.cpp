#include "optC_model_parallel/model/parallel/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/api/errors.h"
#include "common/comm/messages/get_endpoint.h"
#include "optC_model_parallel/micro_batches.h"

namespace lab::optc {

MicroBatchData::MicroBatchData(const Images& images, std::vector<at::Tensor> batches, std::int64_t per_batch,
                               const at::TensorOptions& options)
    : images_(images), batches_(std::move(batches)), per_batch_(per_batch), options_(options) {
  for (const at::Tensor& batch : batches_) {
    const std::vector<Slice> slices = micro_batches(batch.size(0), per_batch);
    if (static_cast<std::int64_t>(slices.size()) != per_batch)
      throw ContractError(
          fmt::format("micro_batches: expected {} micro-batches of {} images, got {}; hint: some may be empty",
                      per_batch, batch.size(0), slices.size()));
    slices_.insert(slices_.end(), slices.begin(), slices.end());
  }
}

const at::Tensor& MicroBatchData::batch(std::int64_t micro_batch) const {
  return batches_.at(static_cast<std::size_t>(micro_batch / per_batch_));
}

at::Tensor MicroBatchData::indices(std::int64_t micro_batch) const {
  const Slice& slice = slices_.at(static_cast<std::size_t>(micro_batch));
  return batch(micro_batch).narrow(0, slice.begin, slice.size);
}

at::Tensor MicroBatchData::pixels(std::int64_t micro_batch) const {
  return normalized(images_, indices(micro_batch), options_);
}

at::Tensor MicroBatchData::labels(std::int64_t micro_batch) const {
  return take_labels(images_, indices(micro_batch)).to(options_.device());
}

pipeline::Buffers stage_buffers(const StagePlan& plan, const MicroBatchData& data) {
  return [&plan, &data](int stage, int micro_batch) {
    std::vector<std::int64_t> shape = plan.out_shape(stage - 1);
    shape.insert(shape.begin(), data.size(micro_batch));
    return at::empty(shape, data.options());
  };
}

PipelineStages::PipelineStages(const StagePlan& plan, const Parameters& weights, const MicroBatchData& data,
                               bool recompute, Communicator& comm)
    : data_(data), numbers_(plan.numbers()), endpoint_(get_endpoint(comm)) {
  for (Parameters& part : by_chunk(plan, comm.rank(), weights)) {
    const int stage = numbers_.find_stage(comm.rank(), static_cast<int>(chunks_.size()));
    chunks_.push_back({stage, plan.layers(stage), std::move(part), LiveMicroBatches(recompute)});
  }
}

std::int64_t PipelineStages::num_live() const {
  std::size_t sum = 0;
  for (const Chunk& chunk : chunks_) sum += chunk.live.size();
  return static_cast<std::int64_t>(sum);
}

StageFunction PipelineStages::stage_function(const Chunk& chunk, const Parameters& weights, int micro_batch) const {
  return [&, micro_batch](const at::Tensor& input) {
    // Images need no gradient: it would be a third of the first layer's work, for nothing.
    const at::Tensor x = chunk.stage == 0 ? data_.pixels(micro_batch) : input;
    const at::Tensor out = run_layers(chunk.layers, weights, x, Mode::kTraining);
    return chunk.stage == numbers_.num_stages() - 1
               ? micro_batch_loss(out, data_.labels(micro_batch), data_.batch_size(micro_batch))
               : out;
  };
}

at::Tensor PipelineStages::traced(const pipeline::Action& action, const std::function<at::Tensor()>& computation) {
  const double start_seconds = endpoint_.transport().now();
  at::Tensor result = computation();
  endpoint_.record_computation(short_name(numbers_, action), static_cast<std::uint64_t>(action.micro_batch),
                               start_seconds);
  return result;
}

at::Tensor PipelineStages::forward(int chunk, int micro_batch, const at::Tensor& input) {
  return forward_with(chunks_[static_cast<std::size_t>(chunk)].weights, chunk, micro_batch, input);
}

at::Tensor PipelineStages::forward_with(const Parameters& weights, int chunk, int micro_batch,
                                        const at::Tensor& input) {
  Chunk& self = chunks_[static_cast<std::size_t>(chunk)];
  at::Tensor output = traced({pipeline::Operation::kForward, micro_batch, chunk}, [&] {
    const at::Tensor received = self.stage == 0 ? at::empty({0}) : input;
    return self.live.forward(micro_batch, received, stage_function(self, weights, micro_batch));
  });
  most_live_ = std::max(most_live_, num_live());
  if (self.stage == numbers_.num_stages() - 1) loss_ += output.item<double>();
  return output;
}

at::Tensor PipelineStages::backward(int chunk, int micro_batch, const at::Tensor& output_grad) {
  return traced({pipeline::Operation::kBackward, micro_batch, chunk},
                [&] { return chunks_[static_cast<std::size_t>(chunk)].live.backward(micro_batch, output_grad); });
}

StashedStage::StashedStage(const StagePlan& plan, Learner& newest, VersionRule version_rule, const MicroBatchData& data,
                           const OnLoss& on_loss, Communicator& comm)
    : PipelineStages(plan, newest.parameters(), data, /*recompute=*/false, comm),
      newest_(newest),
      version_rule_(std::move(version_rule)),
      on_loss_(on_loss),
      is_last_(comm.rank() == comm.size() - 1),
      versions_(copy_of(newest.parameters())) {}

at::Tensor StashedStage::forward(int chunk, int micro_batch, const at::Tensor& input) {
  const Parameters& weights = versions_.start(micro_batch, version_rule_(micro_batch));
  at::Tensor output = forward_with(weights, chunk, micro_batch, input);
  if (is_last_ && data_.ends_batch(micro_batch)) on_loss_(std::exchange(loss_, 0));
  return output;
}

at::Tensor StashedStage::backward(int chunk, int micro_batch, const at::Tensor& output_grad) {
  at::Tensor input_grad = PipelineStages::backward(chunk, micro_batch, output_grad);
  if (!data_.ends_batch(micro_batch)) {
    versions_.finish(micro_batch);
    return input_grad;
  }
  // One step of the newest weights, with the gradients that have accumulated in the version of this batch.
  move_gradients(newest_.model(), versions_.of(micro_batch), newest_.parameters());
  newest_.step();
  versions_.finish(micro_batch);  // before the next version is added: one fewer is held at a time
  versions_.add(copy_of(newest_.parameters()));
  return input_grad;
}

}  // namespace lab::optc
