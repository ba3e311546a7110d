#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>

#include "common/comm/endpoint.h"
#include "common/pipeline/run_schedule.h"
#include "optC_model_parallel/live_micro_batches.h"
#include "optC_model_parallel/micro_batch_data.h"
#include "optC_model_parallel/stage_plan.h"

namespace lab::optc {

/// What a stage computes, whichever weights it is given.
class ModelStage {
 public:
  ModelStage(const StagePlan& plan, int stage);

  const ModelSpec& layers() const { return layers_; }
  bool is_last() const { return is_last_; }

  /// What the function below is given: what came from the stage before; on the first stage, something empty.
  at::Tensor input(const at::Tensor& received) const;

  /// The stage's layers; on the first stage the micro-batch's images before them, which are made anew for each call, so
  /// that nobody need keep them; on the last stage its loss behind them. The stage, the weights and the data must
  /// outlive it.
  StageFunction training(const Parameters& weights, const MicroBatchData& data, int micro_batch) const;

 private:
  ModelSpec layers_;
  bool is_first_;
  bool is_last_;
};

/// Stages that go backward in one piece.
class WholePasses : public pipeline::StageWork {
 public:
  /// Errors    ContractError: schedules that take the backward pass apart are not for these stages
  at::Tensor backward_input(int chunk, int micro_batch, const at::Tensor& output_grad) final;
  void backward_weight(int chunk, int micro_batch) final;
};

/// What travels between the stages: as many images as the micro-batch has, as the stage before leaves them. The plan
/// and the data must outlive it.
pipeline::Buffers stage_buffers(const StagePlan& plan, const MicroBatchData& data);

/// Computes, and traces it under this name if this rank is traced. It is the micro-batch's turn.
at::Tensor traced(Endpoint& endpoint, const std::string& name, int micro_batch,
                  const std::function<at::Tensor()>& computation);

}  // namespace lab::optc
