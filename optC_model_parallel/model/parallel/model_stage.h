#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/comm/messages/endpoint.h"
#include "common/pipeline/run_schedule.h"
#include "common/tensor/partition.h"
#include "optC_model_parallel/live_micro_batches.h"
#include "optC_model_parallel/model/data/images.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"

namespace lab::optc {

/// The micro-batches of some batches, numbered through: batch b has those from b * m to b * m + m - 1. A micro-batch's
/// tensors are made when asked for: nothing here is as large as a batch but the list of its images.
class MicroBatchData {
 public:
  /// Each batch as the indices [B] of its images, cut by micro_batches(). The images must outlive it.
  /// Errors    ContractError: micro_batches() makes more or fewer than it should
  MicroBatchData(const Images& images, std::vector<at::Tensor> batches, std::int64_t per_batch, at::ScalarType dtype);

  std::int64_t num_micro_batches() const { return static_cast<std::int64_t>(batches_.size()) * per_batch_; }
  std::int64_t per_batch() const { return per_batch_; }
  at::ScalarType dtype() const { return dtype_; }

  std::int64_t size(std::int64_t micro_batch) const;        ///< its images; may be 0
  std::int64_t batch_size(std::int64_t micro_batch) const;  ///< those of its whole batch
  at::Tensor pixels(std::int64_t micro_batch) const;        ///< normalized()
  at::Tensor labels(std::int64_t micro_batch) const;

 private:
  const Slice& slice(std::int64_t micro_batch) const;
  at::Tensor indices(std::int64_t micro_batch) const;
  const at::Tensor& batch(std::int64_t micro_batch) const;

  const Images& images_;
  std::vector<at::Tensor> batches_;
  std::vector<std::vector<Slice>> slices_;  ///< of each batch
  std::int64_t per_batch_;
  at::ScalarType dtype_;
};

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
