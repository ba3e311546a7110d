#pragma once

#include <functional>

#include "common/checks/case.h"
#include "vae_sequence_parallel/model/width_shard.h"
#include "vae_sequence_parallel/weights.h"

namespace lab::vae {

/// A parallel module's forward pass.
using ShardFunction = std::function<WidthShard(WidthShard)>;

/// Makes the module that the case's numbers describe.
using ModuleMaker = std::function<ShardFunction(const Weights&, const CaseInputs&, Communicator&)>;

/// The call of a task whose module takes a picture; see ModuleCase for inputs and results.
/// Errors    UsageError: the module's parameters differ from the serial one's
TaskCall module_call(const ModuleMaker& make);

/// The "weight." tensors of a case, by parameter name.
TensorMap weights_of(const CaseInputs& inputs);

/// A tensor of integers, such as "input.widths".
std::vector<std::int64_t> integers(const CaseInputs& inputs, const std::string& name);

}  // namespace lab::vae
