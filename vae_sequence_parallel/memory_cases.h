#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::vae {

/// The bonus: work of which it is known how much it holds.
std::vector<Case> memory_cases();

/// "bytes": what vae.memory's function says of each piece of work.
TensorMap memory_call(Communicator& comm, const CaseInputs& inputs);

}  // namespace lab::vae
