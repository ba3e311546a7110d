#include "optC_model_parallel/model_stage.h"

#include "common/report/errors.h"
#include "optC_model_parallel/micro_batches.h"

namespace lab::optc {

ModelStage::ModelStage(const StagePlan& plan, int stage)
    : layers_(plan.layers(stage)), is_first_(stage == 0), is_last_(stage == plan.num_stages() - 1) {}

at::Tensor ModelStage::input(const at::Tensor& received) const {
  return is_first_ ? at::empty({0}) : received;
}

StageFunction ModelStage::training(const Parameters& weights, const MicroBatchData& data, int micro_batch) const {
  return [this, &weights, &data, micro_batch](const at::Tensor& input) {
    // Images need no gradient: it would be a third of the first layer's work, for nobody.
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
    return at::empty(shape, data.dtype());
  };
}

at::Tensor traced(Endpoint& endpoint, const std::string& name, int micro_batch,
                  const std::function<at::Tensor()>& computation) {
  const double start_seconds = endpoint.transport().now();
  at::Tensor result = computation();
  endpoint.record_computation(name, static_cast<std::uint64_t>(micro_batch), start_seconds);
  return result;
}

}  // namespace lab::optc
