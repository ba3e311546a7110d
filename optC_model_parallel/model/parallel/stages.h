#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/api/communicator.h"
#include "common/api/partition.h"
#include "common/comm/messages/endpoint.h"
#include "common/pipeline/run_schedule.h"
#include "optC_model_parallel/live_micro_batches.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/optimizer.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"
#include "optC_model_parallel/strategy.h"
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

/// This rank's chunks of a model, working on one batch after another, in any schedule that computes all of a batch with
/// the same weights. Gradients accumulate in the weights; the caller updates them between two batches.
class PipelineStages : public WholePasses {
 public:
  /// `weights`: of layers_of_rank(plan, rank). The plan must outlive it.
  PipelineStages(const StagePlan& plan, const Parameters& weights, bool recompute, Communicator& comm);

  /// Sets the batch whose micro-batches the following passes compute. The data must outlive them.
  void begin(const MicroBatchData& batch);

  at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) override;
  at::Tensor backward(int chunk, int micro_batch, const at::Tensor& output_grad) override;

  /// The batch's loss, once its forward passes are done, on the rank with the last stage; otherwise 0.
  double loss() const { return loss_; }

  /// The number of the chunk's micro-batches that wait for their backward pass.
  std::size_t num_live(int chunk) const { return chunks_[static_cast<std::size_t>(chunk)].live.size(); }

 private:
  struct Chunk {
    ModelStage stage;
    Parameters weights;  ///< the same tensors as those given
    LiveMicroBatches live;
  };

  const pipeline::Schedule numbers_;
  Endpoint& endpoint_;
  std::vector<Chunk> chunks_;
  const MicroBatchData* batch_ = nullptr;
  double loss_ = 0;
};

/// Which version of its weights a stage computes a micro-batch with: one of pipedream.h, with the stage filled in.
using VersionRule = std::function<std::int64_t(std::int64_t micro_batch)>;

/// One stage of a model in a schedule that is not drained between its first and last batch: an update follows the
/// backward pass of each batch's last micro-batch, while micro-batches of later batches are in flight.
class StashedStage : public WholePasses {
 public:
  /// `newest` has the weights that updates change, `data` all batches, and `on_loss` is called with each one's loss, on
  /// the last stage. Everything passed by reference must outlive it.
  StashedStage(const StagePlan& plan, Learner& newest, VersionRule find_version, const MicroBatchData& data,
               const OnLoss& on_loss, Communicator& comm);

  at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) override;
  at::Tensor backward(int chunk, int micro_batch, const at::Tensor& output_grad) override;

  std::size_t num_versions() const { return versions_.num_kept(); }

 private:
  bool ends_batch(int micro_batch) const { return (micro_batch + 1) % data_.per_batch() == 0; }
  /// One optimizer step on the newest weights, with the gradients accumulated in a version's leaves.
  void update(const Parameters& version);

  const pipeline::Schedule numbers_;
  ModelStage stage_;
  Learner& newest_;
  VersionRule version_of_;
  const MicroBatchData& data_;
  const OnLoss& on_loss_;
  Endpoint& endpoint_;
  WeightVersions versions_;
  LiveMicroBatches live_;
  double loss_ = 0;
};

}  // namespace lab::optc
