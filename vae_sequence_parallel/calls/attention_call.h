#pragma once

#include <functional>

#include "common/rank/task_call.h"

namespace lab::vae {

/// Attention whose positions are split over ranks.
using AttentionFunction =
    std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const std::vector<std::int64_t>& lengths, Communicator& comm, const CaseInputs& inputs)>;

/// The call of a task that is attention alone.
/// Inputs: "input.q", "input.k", "input.v", this rank's positions; "input.lengths" of all ranks; "input.grad_out" for
/// gradients.
/// Results: "out", and "q", "k" and "v" as they are afterwards; with gradients "q.grad", "k.grad" and "v.grad".
/// Errors    ResultError: out shares memory with an input
TaskCall attention_call(const AttentionFunction& by);

}  // namespace lab::vae
