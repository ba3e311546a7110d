#pragma once

#include <utility>

#include "common/comm/communicator.h"
#include "optC_model_parallel/learner.h"
#include "optC_model_parallel/stage_plan.h"
#include "optC_model_parallel/strategy.h"
#include "optC_model_parallel/training_options.h"

namespace lab::optc {

/// What every way to train in stages has in common: this rank's layers, and how they answer. The last rank, which has
/// the last stage, knows losses and answers.
class PipelineTraining : public Strategy {
 public:
  at::Tensor logits(const Images& images, const OnBatch& on_batch = {}) override;
  TensorMap parameters() const override { return learner_.tensors(); }
  TensorMap state() const override { return learner_.state(); }
  void load_state(const TensorMap& state) override { learner_.load_state(state); }
  void watch(Learner::BeforeStep before_step) override { learner_.watch(std::move(before_step)); }

 protected:
  PipelineTraining(StagePlan plan, const TrainingOptions& options, Communicator& comm);

  bool is_last_rank() const { return comm_.rank() == comm_.size() - 1; }

  const StagePlan plan_;
  const at::ScalarType dtype_;
  Communicator& comm_;
  Learner learner_;

 private:
  /// One batch through all stages, forward only: the answers on the last rank, elsewhere undefined.
  at::Tensor answers_of(const at::Tensor& images) const;
};

}  // namespace lab::optc
