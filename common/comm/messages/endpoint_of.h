#pragma once

#include "common/api/communicator.h"
#include "common/comm/messages/endpoint.h"

namespace lab::comm {

/// What a communicator's facets share: its ledger, clock and transport. For what runs and measures ranks; a student's
/// communicator does not lead there.
Endpoint& endpoint_of(Communicator& comm);

}  // namespace lab::comm

namespace lab {
using comm::endpoint_of;
}  // namespace lab
