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

}  // namespace lab::vae
