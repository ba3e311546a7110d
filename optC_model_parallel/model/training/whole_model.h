#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <utility>

#include "optC_model_parallel/model/training/learner.h"
#include "optC_model_parallel/model/training/training_options.h"
#include "optC_model_parallel/strategy.h"

namespace lab::optc {

/// Each batch as a whole, through all of the learner's layers: the whole ones, or a rank's shard of each, with
/// functions that communicate. Every rank then knows losses and logits.
std::unique_ptr<Strategy> whole_batches(const TrainingOptions& options, Learner learner);

/// Common base of strategies in which a process runs all layers, whole or as shards.
class WholeModel : public Strategy {
 public:
  WholeModel(const TrainingOptions& options, Learner learner);

  at::Tensor logits(const Images& images, const OnBatch& on_batch = {}) override;
  TensorMap parameters() const override { return learner_.tensors(); }
  TensorMap state() const override { return learner_.state(); }
  void load_state(const TensorMap& state) override { learner_.load_state(state); }

 protected:
  /// The mean cross-entropy of these images, with weights that may differ from the learner's.
  at::Tensor mean_loss(const Parameters& parameters, const Images& images, const at::Tensor& indices) const;

  Learner& learner() { return learner_; }

 private:
  at::TensorOptions tensors_;
  Learner learner_;
};

}  // namespace lab::optc
