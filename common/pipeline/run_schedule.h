#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "common/api/point_to_point.h"
#include "common/pipeline/schedule.h"

namespace lab::pipeline {

/// A schedule's computations on one rank. Stage s = chunk * p + rank. The work keeps what it needs between a
/// micro-batch's forward and backward pass; run_schedule keeps only what is sent, and only until it has arrived.
class StageWork {
 public:
  virtual ~StageWork() = default;

  /// Returns the stage's output. The input is what the stage before returned, or undefined on the first stage.
  virtual at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) = 0;

  /// Both gradients; returns that of the stage's input. output_grad is undefined on the last stage.
  virtual at::Tensor backward(int chunk, int micro_batch, const at::Tensor& output_grad) = 0;

  /// The same in two steps, for schedules that split them.
  virtual at::Tensor backward_input(int chunk, int micro_batch, const at::Tensor& output_grad) = 0;
  virtual void backward_weight(int chunk, int micro_batch) = 0;
};

/// An empty tensor to receive into: of the shape and options of what `stage` gets as its input for the micro-batch. The
/// gradient that a stage receives is that of the next stage's input.
using Buffers = std::function<at::Tensor(int stage, int micro_batch)>;

/// The same for every stage and micro-batch.
Buffers same_buffers(at::IntArrayRef shape, const at::TensorOptions& options);

/// Runs this rank's list: calls the work for each computation, posts and awaits each message where the list says.
/// Stages on one rank hand over without a message.
/// Call      collective, blocking; p2p's ranks are the schedule's
/// Shapes    messages as `buffers` says
/// Errors    ContractError: another number of ranks; an action whose tensor is not there (validate() detects this);
///           those of the messages and of the work
void run_schedule(const Schedule& schedule, PointToPoint& p2p, StageWork& work, const Buffers& buffers);

}  // namespace lab::pipeline
