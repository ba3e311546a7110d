#pragma once

#include <functional>

#include "common/api/communicator.h"
#include "optC_model_parallel/model/parallel/model_stage.h"
#include "optC_model_parallel/model/training/learner.h"
#include "optC_model_parallel/strategy.h"
#include "optC_model_parallel/weight_versions.h"

namespace lab::optc {

/// Which version of its weights a stage computes a micro-batch with: one of pipedream.h, with the stage filled in.
using VersionRule = std::function<std::int64_t(std::int64_t micro_batch)>;

/// One stage of a model in a schedule that is not drained between its first and last batch: an update follows the
/// backward pass of each batch's last micro-batch, while micro-batches of later batches are in flight.
class StashedStage : public WholePasses {
 public:
  /// `newest` has the weights that updates change, `data` all batches, and `on_loss` is called with each one's loss, on
  /// the last stage. Everything passed by reference must outlive it.
  StashedStage(const StagePlan& plan, Learner& newest, VersionRule version_of, const MicroBatchData& data,
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
