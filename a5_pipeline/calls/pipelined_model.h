#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "a5_pipeline/arguments.h"
#include "a5_pipeline/data_loader.h"
#include "a5_pipeline/model/deferred_linear.h"
#include "a5_pipeline/pipeline_stage.h"
#include "common/api/communicator.h"
#include "common/api/tensor_map.h"
#include "common/pipeline/run_schedule.h"
#include "common/pipeline/schedule.h"

namespace lab::a5 {

/// Called with each output of the last stage.
using OutputTaker = std::function<void(int micro_batch, const at::Tensor& output)>;

/// The model's side of a schedule: this rank's chunks of layers, and its live micro-batches.
class ScheduledStage : public pipeline::StageWork {
 public:
  /// Makes the layers of each of this rank's chunks. The schedule and the data must outlive it.
  ScheduledStage(const PipelineArguments& arguments, const pipeline::Schedule& schedule, const DataLoader& data,
                 Communicator& comm, OutputTaker take_output);

  at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) override;
  at::Tensor backward(int chunk, int micro_batch, const at::Tensor& output_grad) override;
  at::Tensor backward_input(int chunk, int micro_batch, const at::Tensor& output_grad) override;
  void backward_weight(int chunk, int micro_batch) override;

  // Of all chunks.
  TensorMap weights() const;
  TensorMap gradients() const;

 private:
  struct Live {
    at::Tensor input;
    at::Tensor target;  ///< the output; on the last stage the loss
    std::vector<DeferredGradient> deferred;
  };

  Live& live(int chunk, int micro_batch) { return live_.at({chunk, micro_batch}); }

  const PipelineArguments arguments_;
  const pipeline::Schedule& schedule_;
  const DataLoader& data_;
  const int rank_;
  const bool takes_backward_apart_;
  OutputTaker take_output_;
  std::vector<PipelineStage> chunks_;
  std::map<std::pair<int, int>, Live> live_;  ///< by chunk and micro-batch
};

/// The results of one rank of the pipeline.
struct PipelineResult {
  std::vector<at::Tensor> outputs;  ///< of all micro-batches in order, on the rank of the last stage; elsewhere empty
  TensorMap weights;                ///< of this rank's layers, by "layer3.fc1"
  TensorMap gradients;              ///< by the same names
};

/// The handout's pipeline: rank r is stage r, and all_forward_all_backward is its loop.
/// Call      collective, blocking
PipelineResult run_handout_pipeline(const PipelineArguments& arguments, Communicator& comm);

/// The same model with any schedule for this number of ranks and micro-batches.
/// Call      collective, blocking
PipelineResult run_scheduled_pipeline(const PipelineArguments& arguments, const pipeline::Schedule& schedule,
                                      Communicator& comm);

}  // namespace lab::a5
