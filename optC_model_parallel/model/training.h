#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "optC_model_parallel/model/checkpoint.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/learner.h"
#include "optC_model_parallel/model/training_record.h"

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

/// Called with each step's loss, on the ranks that know it.
using OnLoss = std::function<void(double loss)>;

/// Called after each batch of an evaluation and each file read, by the working thread: other ranks may be waiting.
using OnBatch = std::function<void()>;

/// One way to train: alone, in stages, in shards, with stale weights. The training loop does the rest. Every rank of a
/// parallel training calls the same functions in the same order.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Trains on the batches [begin, end) of the epoch, in order, one update each, and returns when all are done. The
  /// loss of a step is the mean cross-entropy of its batch, with the weights of its forward pass.
  virtual void train(const Images& images, const EpochBatches& batches, const Slice& steps, const OnLoss& on_loss) = 0;

  /// The model's logits, [N, 10], computed in batches of a few hundred; undefined on ranks that do not know them.
  virtual at::Tensor logits(const Images& images, const OnBatch& on_batch = {}) = 0;

  /// This rank's current tensors.
  /// Aliasing  copies
  virtual TensorMap parameters() const = 0;

  /// Everything needed to resume training, as Learner::state().
  virtual TensorMap state() const = 0;
  virtual void load_state(const TensorMap& state) = 0;
};

/// A strategy by which this rank trains a learner.
class LearnerStrategy : public Strategy {
 public:
  LearnerStrategy(const TrainingOptions& options, Learner learner)
      : tensors_(options.tensors()), learner_(std::move(learner)) {}

  at::Tensor logits(const Images& images, const OnBatch& on_batch = {}) final;
  TensorMap parameters() const final { return learner_.tensors(); }
  TensorMap state() const final { return learner_.state(); }
  void load_state(const TensorMap& state) final { learner_.load_state(state); }

 protected:
  /// The logits of one batch; undefined on ranks that do not know them. Unless overridden, all of the learner's layers,
  /// whole or as shards with functions that communicate.
  virtual at::Tensor evaluate(const at::Tensor& x);

  /// The mean cross-entropy of these images, with weights that may differ from the learner's.
  at::Tensor mean_loss(const Parameters& parameters, const Images& images, const at::Tensor& indices) const;

  const at::TensorOptions tensors_;
  Learner learner_;
};

/// Each batch as a whole, through all of the learner's layers. Every rank then knows losses and logits.
std::unique_ptr<Strategy> whole_batches(const TrainingOptions& options, Learner learner);

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
                            Checkpoints* checkpoints = nullptr, const TrainingEvents& events = {});

}  // namespace lab::optc
