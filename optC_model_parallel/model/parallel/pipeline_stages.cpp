#include "optC_model_parallel/model/parallel/pipeline_stages.h"
#include "common/comm/messages/endpoint_of.h"

#include <utility>

namespace lab::optc {

PipelineStages::PipelineStages(const StagePlan& plan, const Parameters& weights, bool recompute, Communicator& comm)
    : numbers_(plan.numbers()), endpoint_(endpoint_of(comm)) {
  for (Parameters& of_chunk : by_chunk(plan, comm.rank(), weights)) {
    const int stage = numbers_.stage_of(comm.rank(), static_cast<int>(chunks_.size()));
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

}  // namespace lab::optc
