#pragma once

#include <memory>

#include "common/comm/process/lane.h"
#include "common/comm/shm/neighbours.h"

namespace lab::comm {

/// Messages between processes that share memory. Short ones travel through a ring. Of a long one only the frame does:
/// the receiver copies the payload straight from the sender's tensor into its own or, where it may not, asks for it in
/// pieces through the ring.
/// `spins`: whoever waits looks for a while before it sleeps: good where every rank has a core.
std::unique_ptr<NearLane> lane_over_memory(const Neighbours& neighbours, WaitGuard& guard, bool spins);

}  // namespace lab::comm
