#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>

#include "common/tensor/tensor_map.h"
#include "optC_model_parallel/model/data/batches.h"
#include "optC_model_parallel/model/data/images.h"
#include "optC_model_parallel/model/training/learner.h"

namespace lab::optc {

/// Told of each step's loss, on the ranks that know it.
using OnLoss = std::function<void(double loss)>;

/// Told after each batch of an evaluation or a file read, by the thread that does the work: other ranks may be waiting.
using OnBatch = std::function<void()>;

/// One way to train: alone, in stages, in shards, with stale weights. The training loop does the rest. Every rank of a
/// parallel training calls the same functions in the same order.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Trains on the batches [begin, end) of the epoch, in order, one update each, and returns when all are done. The
  /// loss of a step is the mean cross-entropy of its batch, with the weights that its forward pass had.
  virtual void train(const Images& images, const EpochBatches& batches, const Slice& steps, const OnLoss& on_loss) = 0;

  /// What the model answers, [N, 10], in batches of some hundred; undefined on ranks that do not know it.
  virtual at::Tensor logits(const Images& images, const OnBatch& on_batch = {}) = 0;

  /// This rank's tensors, as they are now. Aliasing  copies
  virtual TensorMap parameters() const = 0;

  /// Everything that training goes on from: parameters() and the optimizer's state. Aliasing  copies
  virtual TensorMap state() const = 0;
  /// Errors    UsageError: not a state of this strategy
  virtual void load_state(const TensorMap& state) = 0;

  /// Told before each update of this rank's tensors.
  virtual void watch(Learner::BeforeStep before_step) = 0;
};

}  // namespace lab::optc
