#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "common/api/communicator.h"
#include "common/api/partition.h"
#include "common/api/stage_work.h"
#include "common/comm/messages/endpoint.h"
#include "optC_model_parallel/live_micro_batches.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"
#include "optC_model_parallel/model/training.h"
#include "optC_model_parallel/weight_versions.h"

namespace lab::optc {

/// The micro-batches of some batches, numbered consecutively: batch b has b * m to b * m + m - 1. A micro-batch's
/// tensors are made on demand: nothing here is as large as a batch except the list of its images.
class MicroBatchData {
 public:
  /// Each batch as the indices [B] of its images, split by micro_batches(). The images must outlive it.
  /// Errors    ContractError: micro_batches() returns too many or too few
  MicroBatchData(const Images& images, std::vector<at::Tensor> batches, std::int64_t per_batch,
                 const at::TensorOptions& options);

  std::int64_t num_micro_batches() const { return static_cast<std::int64_t>(slices_.size()); }
  const at::TensorOptions& options() const { return options_; }  ///< of its tensors
  bool ends_batch(std::int64_t micro_batch) const { return (micro_batch + 1) % per_batch_ == 0; }

  /// The number of images of a micro-batch, which may be 0, and of its batch.
  std::int64_t size(std::int64_t micro_batch) const { return slices_.at(static_cast<std::size_t>(micro_batch)).size; }
  std::int64_t batch_size(std::int64_t micro_batch) const { return batch(micro_batch).size(0); }
  at::Tensor pixels(std::int64_t micro_batch) const;  ///< normalized()
  at::Tensor labels(std::int64_t micro_batch) const;

 private:
  const at::Tensor& batch(std::int64_t micro_batch) const;
  at::Tensor indices(std::int64_t micro_batch) const;

  const Images& images_;
  std::vector<at::Tensor> batches_;
  std::vector<Slice> slices_;  ///< of each micro-batch, in its batch
  std::int64_t per_batch_;
  at::TensorOptions options_;
};

/// Buffers for the messages between stages: as many images as the micro-batch has, in the previous stage's output
/// shape. The plan and the data must outlive it.
pipeline::Buffers stage_buffers(const StagePlan& plan, const MicroBatchData& data);

/// This rank's chunks of a model, working on some batches in any schedule that computes all of them with the same
/// weights. Gradients accumulate in the weights.
class PipelineStages : public pipeline::StageWork {
 public:
  /// `weights`: of layers_of_rank(plan, rank). The plan and the data must outlive it.
  PipelineStages(const StagePlan& plan, const Parameters& weights, const MicroBatchData& data, bool recompute,
                 Communicator& comm);

  at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) override;
  at::Tensor backward(int chunk, int micro_batch, const at::Tensor& output_grad) override;

  /// The loss of what has gone forward, on the rank with the last stage; otherwise 0.
  double loss() const { return loss_; }

  /// The number of micro-batches that wait for their backward pass, in all chunks, now and at most.
  std::int64_t num_live() const;
  std::int64_t most_live() const { return most_live_; }

 protected:
  /// The same as forward(), with these weights, which must outlive the micro-batch's backward pass.
  at::Tensor forward_with(const Parameters& weights, int chunk, int micro_batch, const at::Tensor& input);

  const MicroBatchData& data_;
  double loss_ = 0;

 private:
  struct Chunk {
    int stage;
    ModelSpec layers;
    Parameters weights;  ///< the same tensors as those given
    LiveMicroBatches live;
  };

  /// The stage's layers; on the first stage preceded by loading the micro-batch's images, repeated in each call so that
  /// they need not be kept; on the last stage followed by its loss.
  StageFunction stage_function(const Chunk& chunk, const Parameters& weights, int micro_batch) const;
  /// Runs the computation, traced under its name if this rank is traced.
  at::Tensor traced(const pipeline::Action& action, const std::function<at::Tensor()>& computation);

  const pipeline::Schedule numbers_;
  Endpoint& endpoint_;
  std::vector<Chunk> chunks_;
  std::int64_t most_live_ = 0;
};

/// Which version of its weights a stage computes a micro-batch with: one of pipedream.h, with the stage filled in.
using VersionRule = std::function<std::int64_t(std::int64_t micro_batch)>;

/// One stage of a model in a schedule that is not drained between its first and last batch: an update follows the
/// backward pass of each batch's last micro-batch, while micro-batches of later batches are in flight.
class StashedStage : public PipelineStages {
 public:
  /// `newest` has the weights that updates change, `data` all batches, and `on_loss` is called with each one's loss, on
  /// the last stage. Everything passed by reference must outlive it.
  StashedStage(const StagePlan& plan, Learner& newest, VersionRule version_rule, const MicroBatchData& data,
               const OnLoss& on_loss, Communicator& comm);

  at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) override;
  at::Tensor backward(int chunk, int micro_batch, const at::Tensor& output_grad) override;

  std::size_t num_versions() const { return versions_.num_kept(); }

 private:
  Learner& newest_;
  VersionRule version_rule_;
  const OnLoss& on_loss_;
  bool is_last_;
  WeightVersions versions_;
};

}  // namespace lab::optc
