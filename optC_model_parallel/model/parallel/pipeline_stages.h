#pragma once

#include <vector>

#include "common/api/communicator.h"
#include "optC_model_parallel/model/parallel/model_stage.h"

namespace lab::optc {

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

}  // namespace lab::optc
