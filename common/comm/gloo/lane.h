#pragma once

#include <gloo/context.h>

#include <memory>

#include "common/comm/process/lane.h"

namespace lab::comm {

/// Messages over Gloo's connections: to any rank of the context, on any host. Both must outlive it, and so must what is
/// posted: Gloo has no cancel.
std::unique_ptr<Lane> lane_over_gloo(gloo::Context& context, WaitGuard& guard);

}  // namespace lab::comm
