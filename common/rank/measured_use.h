#pragma once

#include <functional>

#include "common/api/communicator.h"
#include "common/base/costs.h"

namespace lab {

/// What the body uses on this rank; `retained_bytes` counts all that it made and that lives on. The rank's clocks begin
/// at zero with it.
/// Call      on every rank of the world at the same point, with no message in flight
ResourceUse measured_use(Communicator& comm, const std::function<void()>& body);

/// The same where one process does all of the work and sends nothing: not part of what the thread's owner is measured
/// for.
ResourceUse measured_use_of_one_process(const std::function<void()>& body);

}  // namespace lab
