#include "a5_pipeline/calls/pipelined_model.h"

#include "a5_pipeline/all_forward_all_backward.h"
#include "a5_pipeline/calls/scheduled_stage.h"
#include "common/comm/messages/endpoint_of.h"

namespace lab::a5 {

PipelineResult run_handout_pipeline(const PipelineArguments& arguments, Communicator& comm) {
  PipelineStage stage(arguments, distribute_layers(arguments.number_of_layers, comm.rank(), comm.size()),
                      StageTrace{&endpoint_of(comm), ""});
  DataLoader data = requires_dataloader(comm.rank(), comm.size()) ? DataLoader(arguments) : DataLoader::none(arguments);
  PipelineResult result;
  result.outputs = all_forward_all_backward(stage, data, arguments, comm.point_to_point());
  result.weights = stage.model().weights();
  result.gradients = stage.model().gradients();
  return result;
}

PipelineResult run_scheduled_pipeline(const PipelineArguments& arguments, const pipeline::Schedule& schedule,
                                      Communicator& comm) {
  const DataLoader data = schedule.stage_of(comm.rank(), 0) == 0 ? DataLoader(arguments) : DataLoader::none(arguments);
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
