#include "optC_model_parallel/model/parallel/stages.h"

#include <fmt/format.h>

#include <utility>

#include "common/api/errors.h"
#include "common/comm/messages/get_endpoint.h"
#include "optC_model_parallel/micro_batches.h"
#include "optC_model_parallel/model/images.h"

namespace lab::optc {

MicroBatchData::MicroBatchData(const Images& images, std::vector<at::Tensor> batches, std::int64_t per_batch,
                               const at::TensorOptions& options)
    : images_(images), batches_(std::move(batches)), per_batch_(per_batch), options_(options) {
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
  return normalized(images_, indices(micro_batch), options_);
}

at::Tensor MicroBatchData::labels(std::int64_t micro_batch) const {
  return take_labels(images_, indices(micro_batch)).to(options_.device());
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

ModelStage::ModelStage(const StagePlan& plan, int stage)
    : layers_(plan.layers(stage)), is_first_(stage == 0), is_last_(stage == plan.num_stages() - 1) {}

at::Tensor ModelStage::input(const at::Tensor& received) const {
  return is_first_ ? at::empty({0}) : received;
}

StageFunction ModelStage::training(const Parameters& weights, const MicroBatchData& data, int micro_batch) const {
  return [this, &weights, &data, micro_batch](const at::Tensor& input) {
    // Images need no gradient: it would be a third of the first layer's work, for nothing.
    const at::Tensor x = is_first_ ? data.pixels(micro_batch) : input;
    const at::Tensor out = run_layers(layers_, weights, x, Mode::kTraining);
    return is_last_ ? micro_batch_loss(out, data.labels(micro_batch), data.batch_size(micro_batch)) : out;
  };
}

at::Tensor WholePasses::backward_input(int, int, const at::Tensor&) {
  throw ContractError("expected a schedule with whole backward passes, got one that takes them apart");
}

void WholePasses::backward_weight(int chunk, int micro_batch) {
  backward_input(chunk, micro_batch, {});
}

pipeline::Buffers stage_buffers(const StagePlan& plan, const MicroBatchData& data) {
  return [&plan, &data](int stage, int micro_batch) {
    std::vector<std::int64_t> shape = plan.out_shape(stage - 1);
    shape.insert(shape.begin(), data.size(micro_batch));
    return at::empty(shape, data.options());
  };
}

at::Tensor traced(Endpoint& endpoint, const std::string& name, int micro_batch,
                  const std::function<at::Tensor()>& computation) {
  const double start_seconds = endpoint.transport().now();
  at::Tensor result = computation();
  endpoint.record_computation(name, static_cast<std::uint64_t>(micro_batch), start_seconds);
  return result;
}

PipelineStages::PipelineStages(const StagePlan& plan, const Parameters& weights, bool recompute, Communicator& comm)
    : numbers_(plan.numbers()), endpoint_(get_endpoint(comm)) {
  for (Parameters& of_chunk : by_chunk(plan, comm.rank(), weights)) {
    const int stage = numbers_.find_stage(comm.rank(), static_cast<int>(chunks_.size()));
    chunks_.push_back({ModelStage(plan, stage), std::move(of_chunk), LiveMicroBatches(recompute)});
  }
}

void PipelineStages::begin(const MicroBatchData& batch) {
  batch_ = &batch;
  loss_ = 0;
}

at::Tensor PipelineStages::forward(int chunk, int micro_batch, const at::Tensor& input) {
  Chunk& self = chunks_[static_cast<std::size_t>(chunk)];
  const std::string name = short_name(numbers_, {pipeline::Operation::kForward, micro_batch, chunk});
  at::Tensor output = traced(endpoint_, name, micro_batch, [&] {
    return self.live.forward(micro_batch, self.stage.input(input),
                             self.stage.training(self.weights, *batch_, micro_batch));
  });
  if (self.stage.is_last()) loss_ += output.item<double>();
  return output;
}

at::Tensor PipelineStages::backward(int chunk, int micro_batch, const at::Tensor& output_grad) {
  const std::string name = short_name(numbers_, {pipeline::Operation::kBackward, micro_batch, chunk});
  return traced(endpoint_, name, micro_batch,
                [&] { return chunks_[static_cast<std::size_t>(chunk)].live.backward(micro_batch, output_grad); });
}

StashedStage::StashedStage(const StagePlan& plan, Learner& newest, VersionRule find_version, const MicroBatchData& data,
                           const OnLoss& on_loss, Communicator& comm)
    : numbers_(plan.numbers()),
      stage_(plan, comm.rank()),
      newest_(newest),
      version_of_(std::move(find_version)),
      data_(data),
      on_loss_(on_loss),
      endpoint_(get_endpoint(comm)),
      versions_(copy_of(newest.parameters())),
      live_(/*recompute=*/false) {}

at::Tensor StashedStage::forward(int chunk, int micro_batch, const at::Tensor& input) {
  const std::string name = short_name(numbers_, {pipeline::Operation::kForward, micro_batch, chunk});
  at::Tensor output = traced(endpoint_, name, micro_batch, [&] {
    const Parameters& weights = versions_.start(micro_batch, version_of_(micro_batch));
    return live_.forward(micro_batch, stage_.input(input), stage_.training(weights, data_, micro_batch));
  });
  if (stage_.is_last()) {
    loss_ += output.item<double>();
    if (ends_batch(micro_batch)) on_loss_(std::exchange(loss_, 0));
  }
  return output;
}

at::Tensor StashedStage::backward(int chunk, int micro_batch, const at::Tensor& output_grad) {
  const std::string name = short_name(numbers_, {pipeline::Operation::kBackward, micro_batch, chunk});
  return traced(endpoint_, name, micro_batch, [&] {
    at::Tensor input_grad = live_.backward(micro_batch, output_grad);
    if (ends_batch(micro_batch)) {
      update(versions_.of(micro_batch));
      versions_.finish(micro_batch);  // before the next version is added: one fewer is held at a time
      versions_.add(copy_of(newest_.parameters()));
    } else {
      versions_.finish(micro_batch);
    }
    return input_grad;
  });
}

void StashedStage::update(const Parameters& version) {
  const Tensors used = learning(stage_.layers(), version), newest = learning(stage_.layers(), newest_.parameters());
  for (std::size_t i = 0; i < used.size(); ++i)
    newest[i].mutable_grad() = std::exchange(used[i].mutable_grad(), at::Tensor());
  newest_.step();
}

}  // namespace lab::optc
