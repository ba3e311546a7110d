#include "a5_pipeline/calls/pipelined_model.h"

#include <algorithm>

#include "a5_pipeline/all_forward_all_backward.h"
#include "common/comm/messages/get_endpoint.h"

namespace lab::a5 {
namespace {

bool takes_backward_apart(const pipeline::Schedule& schedule) {
  const auto& list = schedule.ranks.front();
  return std::any_of(list.begin(), list.end(), [](const pipeline::Action& action) {
    return action.operation == pipeline::Operation::kBackwardWeight;
  });
}

}  // namespace

ScheduledStage::ScheduledStage(const PipelineArguments& arguments, const pipeline::Schedule& schedule,
                               const DataLoader& data, Communicator& comm, OutputTaker take_output)
    : arguments_(arguments),
      schedule_(schedule),
      data_(data),
      rank_(comm.rank()),
      takes_backward_apart_(takes_backward_apart(schedule)),
      take_output_(std::move(take_output)) {
  for (int chunk = 0; chunk < schedule.num_chunks; ++chunk) {
    const int stage = schedule.find_stage(rank_, chunk);
    const std::string suffix = schedule.num_chunks == 1 ? "" : std::string(1, static_cast<char>('a' + chunk % 26));
    chunks_.emplace_back(arguments, distribute_layers(arguments.number_of_layers, stage, schedule.num_stages()),
                         StageTrace{&get_endpoint(comm), suffix});
  }
}

at::Tensor ScheduledStage::forward(int chunk, int micro_batch, const at::Tensor& input) {
  const int stage = schedule_.find_stage(rank_, chunk);
  Live& one = live_[{chunk, micro_batch}];
  one.input = input.defined() ? input : data_.micro_batch(micro_batch).to(arguments_.device);
  one.input.requires_grad_();
  PipelineStage& layers = chunks_[static_cast<std::size_t>(chunk)];
  at::Tensor output =
      takes_backward_apart_ ? layers.forward_deferring(one.input, one.deferred) : layers.forward(one.input);
  one.target = output;
  if (stage == schedule_.num_stages() - 1) {
    one.target = output.mean();
    if (take_output_) take_output_(micro_batch, output.detach());
  }
  return output;
}

at::Tensor ScheduledStage::backward(int chunk, int micro_batch, const at::Tensor& output_grad) {
  const Live one = std::move(live(chunk, micro_batch));
  live_.erase({chunk, micro_batch});
  return chunks_[static_cast<std::size_t>(chunk)].backward(one.input, one.target, output_grad);
}

at::Tensor ScheduledStage::backward_input(int chunk, int micro_batch, const at::Tensor& output_grad) {
  Live& one = live(chunk, micro_batch);
  at::Tensor input_grad = chunks_[static_cast<std::size_t>(chunk)].backward_input(one.input, one.target, output_grad);
  one.input = one.target = at::Tensor();  // what the weights need is in one.deferred
  return input_grad;
}

void ScheduledStage::backward_weight(int chunk, int micro_batch) {
  chunks_[static_cast<std::size_t>(chunk)].backward_weight(live(chunk, micro_batch).deferred);
  live_.erase({chunk, micro_batch});
}

TensorMap ScheduledStage::weights() const {
  TensorMap all;
  for (const PipelineStage& chunk : chunks_) all.merge(chunk.model().weights());
  return all;
}

TensorMap ScheduledStage::gradients() const {
  TensorMap all;
  for (const PipelineStage& chunk : chunks_) all.merge(chunk.model().gradients());
  return all;
}

PipelineResult run_handout_pipeline(const PipelineArguments& arguments, Communicator& comm) {
  PipelineStage stage(arguments, distribute_layers(arguments.number_of_layers, comm.rank(), comm.size()),
                      StageTrace{&get_endpoint(comm), ""});
  DataLoader data = requires_dataloader(comm.rank(), comm.size()) ? DataLoader(arguments) : DataLoader::none(arguments);
  PipelineResult result;
  result.outputs = all_forward_all_backward(stage, data, arguments, comm.point_to_point());
  result.weights = stage.model().weights();
  result.gradients = stage.model().gradients();
  return result;
}

PipelineResult run_scheduled_pipeline(const PipelineArguments& arguments, const pipeline::Schedule& schedule,
                                      Communicator& comm) {
  const DataLoader data =
      schedule.find_stage(comm.rank(), 0) == 0 ? DataLoader(arguments) : DataLoader::none(arguments);
  PipelineResult result;
  ScheduledStage work(arguments, schedule, data, comm,
                      [&](int, const at::Tensor& output) { result.outputs.push_back(output); });
  pipeline::run_schedule(schedule, comm.point_to_point(), work,
                         pipeline::same_buffers(arguments.activation_shape(), arguments.tensor_options()));
  result.weights = work.weights();
  result.gradients = work.gradients();
  return result;
}

}  // namespace lab::a5
