#pragma once

#include <functional>

#include "common/rank/task_call.h"
#include "vae_sequence_parallel/model/width_shard.h"
#include "vae_sequence_parallel/weights.h"

namespace lab::vae {

/// A parallel module's forward pass.
using ShardFunction = std::function<WidthShard(WidthShard)>;

/// Makes the module that the case's numbers describe.
using ModuleMaker = std::function<ShardFunction(const Weights&, const CaseInputs&, Communicator&)>;

/// The call of a task whose module takes a picture.
/// Inputs: "input.x", this rank's columns; "input.widths" of all ranks; "weight.<name>"; "input.grad_out" for
/// gradients.
/// Number "every_other_rank": the even and the odd ranks have a picture each. Number "after_wider": the module is first
/// called with a picture that is twice as wide.
/// Results: "out" and "widths"; with gradients "x.grad", and "<name>.grad", summed over ranks by an all-reduce of each;
/// "x", the columns as they are afterwards, if it keeps_its_input(). With the number "only_difference_of_first_column",
/// "first_column" alone: the output for this rank's first column minus rank 0's, which a broadcast brings.
/// Parameters are not part of what the rank is measured for.
/// Errors    UsageError: the module's parameters differ from the serial one's
TaskCall module_call(const ModuleMaker& make);

/// Whether the module takes its columns by reference and must leave them as they are: a GroupNorm. The others are
/// handed theirs.
bool keeps_its_input(const CaseInputs& inputs);

}  // namespace lab::vae
