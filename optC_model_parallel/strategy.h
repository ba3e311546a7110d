#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>

#include "common/api/tensor_map.h"
#include "optC_model_parallel/model/images.h"

namespace lab::optc {

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

  /// Everything needed to resume training: parameters() and the optimizer's state.
  /// Aliasing  copies
  virtual TensorMap state() const = 0;
  /// Errors    UsageError: not a state of this strategy
  virtual void load_state(const TensorMap& state) = 0;
};

}  // namespace lab::optc
