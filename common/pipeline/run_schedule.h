#pragma once

#include <ATen/ATen.h>

#include "common/api/point_to_point.h"
#include "common/api/stage_work.h"
#include "common/pipeline/schedule.h"

namespace lab::pipeline {

/// Buffers of the same shape for every stage and micro-batch.
Buffers same_buffers(at::IntArrayRef shape, const at::TensorOptions& options);

/// Runs this rank's list: calls the work for each computation, posts and awaits each message where the list says.
/// Stages on one rank hand over without a message.
/// Call      collective, blocking; p2p's ranks are the schedule's
/// Shapes    messages as `buffers` says
/// Errors    ContractError: another number of ranks; an action whose tensor is not there;
///           those of the messages and of the work
void run_schedule(const Schedule& schedule, PointToPoint& p2p, StageWork& work, const Buffers& buffers);

}  // namespace lab::pipeline
