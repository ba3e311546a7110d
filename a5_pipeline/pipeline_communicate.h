#pragma once

#include <ATen/ATen.h>

#include "a5_pipeline/arguments.h"
#include "common/api/point_to_point.h"

namespace lab::a5 {

/// The four messages between two neighbouring stages.
enum class PipelineOperation { kRecvForward, kSendForward, kRecvBackward, kSendBackward };

/// Q7. Performs this stage's end of one message. The rank is the stage.
///
///     operation        what travels
///     kRecvForward     this stage's input
///     kSendForward     this stage's output
///     kRecvBackward    the gradient of this stage's output
///     kSendBackward    the gradient of this stage's input
///
/// A stage without that neighbour has nothing to do.
///
/// Call      blocking; the neighbour performs the other end
/// Shapes    tensor, for a send: arguments.activation_shape()
/// Returns   a receive: a new tensor of that shape that requires a gradient; a send, or nothing to do: an
///           undefined tensor
/// Errors    ContractError: a send of an undefined tensor; the neighbour sends another shape or dtype
at::Tensor pipeline_communicate(PipelineOperation operation, PointToPoint& p2p, const PipelineArguments& arguments,
                                const at::Tensor& tensor = {});

}  // namespace lab::a5
