#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/api/partition.h"
#include "common/comm/messages/endpoint.h"
#include "common/pipeline/run_schedule.h"
#include "optC_model_parallel/live_micro_batches.h"
#include "optC_model_parallel/model/data/images.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"

namespace lab::optc {

/// The micro-batches of some batches, numbered consecutively: batch b has b * m to b * m + m - 1. A micro-batch's
/// tensors are made on demand: nothing here is as large as a batch except the list of its images.
class MicroBatchData {
 public:
  /// Each batch as the indices [B] of its images, split by micro_batches(). The images must outlive it.
  /// Errors    ContractError: micro_batches() returns too many or too few
  MicroBatchData(const Images& images, std::vector<at::Tensor> batches, std::int64_t per_batch,
                 const at::TensorOptions& options);

  std::int64_t num_micro_batches() const { return static_cast<std::int64_t>(batches_.size()) * per_batch_; }
  std::int64_t per_batch() const { return per_batch_; }
  const at::TensorOptions& options() const { return options_; }  ///< of its tensors

  std::int64_t size(std::int64_t micro_batch) const;        ///< number of its images; may be 0
  std::int64_t batch_size(std::int64_t micro_batch) const;  ///< number of images of its batch
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
  at::TensorOptions options_;
};

/// A stage's computation, for any weights.
class ModelStage {
 public:
  ModelStage(const StagePlan& plan, int stage);

  const ModelSpec& layers() const { return layers_; }
  bool is_last() const { return is_last_; }

  /// The input of the function below: what the previous stage sent; on the first stage, an empty tensor.
  at::Tensor input(const at::Tensor& received) const;

  /// The stage's layers; on the first stage preceded by loading the micro-batch's images, repeated in each call so that
  /// they need not be kept; on the last stage followed by its loss. The stage, the weights and the data must outlive
  /// it.
  StageFunction training(const Parameters& weights, const MicroBatchData& data, int micro_batch) const;

 private:
  ModelSpec layers_;
  bool is_first_;
  bool is_last_;
};

/// Stages whose backward pass is not split.
class WholePasses : public pipeline::StageWork {
 public:
  /// Errors    ContractError: these stages do not support schedules that split the backward pass
  at::Tensor backward_input(int chunk, int micro_batch, const at::Tensor& output_grad) final;
  void backward_weight(int chunk, int micro_batch) final;
};

/// Buffers for the messages between stages: as many images as the micro-batch has, in the previous stage's output
/// shape. The plan and the data must outlive it.
pipeline::Buffers stage_buffers(const StagePlan& plan, const MicroBatchData& data);

/// Runs the computation for this micro-batch, traced under this name if this rank is traced.
at::Tensor traced(Endpoint& endpoint, const std::string& name, int micro_batch,
                  const std::function<at::Tensor()>& computation);

}  // namespace lab::optc
