#pragma once

#include <functional>

#include "common/rank/task_call.h"
#include "vae_sequence_parallel/parallel_autoencoder.h"

namespace lab::vae {

/// The picture of a whole latent, on every rank.
using DecodeFunction = std::function<at::Tensor(const ParallelAutoEncoder&, const at::Tensor& z, Communicator&)>;

/// The call of a task that is about an autoencoder. What is not decoding is given code, the same on every rank: it is
/// not part of what the rank is measured for.
/// Inputs: "input.picture" and "input.latent", whole; "weight.<name>"; the numbers of a config.
/// Results: "latent" of the picture; "picture" of the latent; "z", the latent as it is afterwards.
TaskCall autoencoder_call(const DecodeFunction& decode);

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

/// Task id -> student function.
CallTable calls();

}  // namespace lab::vae
