#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <vector>

#include "common/comm/messages/endpoint.h"
#include "common/pipeline/run_schedule.h"

namespace lab::demo {

/// The model: residual layers x + tanh(x W), which learn what a teacher, one such layer with other weights, returns.
struct Sizes {
  int num_layers = 8;
  int num_micro_batches = 8;
  std::int64_t rows = 64;  ///< of a micro-batch
  std::int64_t width = 128;
  std::uint64_t seed = 42;
};

/// Some consecutive layers, and what they do with each micro-batch. The stage of layer 0 draws the inputs, that of the
/// last layer the teacher's outputs, and computes the loss.
class Stage : public pipeline::StageWork {
 public:
  /// `endpoint`: where its computations are traced; null: nowhere.
  Stage(const Sizes& sizes, int begin, int end, Endpoint* endpoint);

  at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) override;
  at::Tensor backward(int chunk, int micro_batch, const at::Tensor& output_grad) override;
  at::Tensor backward_input(int chunk, int micro_batch, const at::Tensor& output_grad) override;
  void backward_weight(int chunk, int micro_batch) override;

  /// Takes a step of gradient descent on the batch's square error per row, and clears the gradients. Returns its mean
  /// square error, 0 without the last layer.
  double update(double learning_rate);

 private:
  struct Layer {
    at::Tensor weight, grad;
  };
  /// What a micro-batch's backward pass needs, by layer.
  struct Live {
    std::vector<at::Tensor> inputs, activations, deltas;
    at::Tensor error;  ///< of the last stage's output
  };

  bool is_last() const { return end_ == sizes_.num_layers; }
  double now() const { return endpoint_ == nullptr ? 0 : endpoint_->transport().now(); }
  void trace(char letter, int micro_batch, double start_seconds) const;

  Sizes sizes_;
  int end_;
  Endpoint* endpoint_;
  std::vector<Layer> layers_;
  std::vector<at::Tensor> inputs_, targets_;  ///< by micro-batch
  std::map<int, Live> live_;
  double loss_ = 0;
};

}  // namespace lab::demo
