#pragma once

#include "common/comm/collectives.h"
#include "optC_model_parallel/checkpoint.h"

namespace lab::optc {

/// How the ranks of a training agree on the checkpoint that they go on from: the newest that all of them have. Each has
/// at most two.
/// Call      what it returns is collective; `comm` must outlive it
Checkpoints::Agree step_of_all(Collectives& comm);

}  // namespace lab::optc
