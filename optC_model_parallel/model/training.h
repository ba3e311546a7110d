#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "optC_model_parallel/model/checkpoint.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/optimizer.h"
#include "optC_model_parallel/model/training_record.h"
#include "optC_model_parallel/strategy.h"

namespace lab::optc {

/// The options that determine a training's numbers, however it is run.
struct TrainingOptions {
  std::string model = "tutorial";
  at::ScalarType dtype = at::kDouble;
  at::Device device = at::kCPU;  ///< where weights and activations are; images and records are on the CPU
  std::uint64_t seed = 42;
  std::int64_t batch_size = 32;
  std::int64_t num_epochs = 4;
  OptimizerOptions optimizer;

  at::TensorOptions tensors() const { return at::TensorOptions(dtype).device(device); }
};

/// How ranks share the work of a pipeline.
struct PipelineOptions {
  std::string schedule = "gpipe";      ///< one of schedule_names()
  std::int64_t num_micro_batches = 4;  ///< per batch; pipedream and pipedream-sync always take whole batches
  int num_chunks = 1;                  ///< per rank; usually 2 for interleaved
  bool recompute = false;              ///< drop activations, and recompute them in the backward pass
};

/// The function's results for all images, 256 at a time, without gradients: [N, 10]. Undefined if the function returns
/// undefined tensors. Without images, the function is called once, with an empty batch.
/// Call      the function gets x [B, 3, 32, 32]; `on_batch` may be empty
at::Tensor batched_logits(const Images& images, const at::TensorOptions& options,
                          const std::function<at::Tensor(const at::Tensor& x)>& function,
                          const std::function<void()>& on_batch = {});

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

/// Callbacks of a training. All may be empty.
struct TrainingEvents {
  std::function<void(const std::string& note)> on_note;                     ///< for the user, about a resumption
  std::function<void(std::int64_t num_images, double loss)> on_step;        ///< where the loss is known
  std::function<void(std::int64_t epoch, const TrainingRecord&)> on_epoch;  ///< from 1
  OnBatch on_batch;                                                         ///< of an evaluation
};

/// Trains for all epochs and returns the record. With checkpoints: resumes from the newest, and writes one every
/// CheckpointOptions::every steps and at the end of each epoch; the record is that of an uninterrupted run.
/// Call      collective where the strategy is
/// Errors    UsageError: a loss that is not finite, with epoch and step ("the loss is nan at step 17 (epoch 1, batch 17
///           of 80); hint: a lower --lr"); no image to train on, or none in a batch; a checkpoint of more steps than
///           asked for; those of the strategy and the checkpoints
TrainingRecord run_training(const TrainingOptions& options, const Dataset& data, Strategy& strategy,
                            Checkpoints* checkpoints, const TrainingEvents& events);

}  // namespace lab::optc
