#pragma once

#include "common/api/communicator.h"
#include "common/comm/messages/endpoint.h"

namespace lab::comm {

/// What a communicator's facets share: its ledger, clock and transport. For what runs and measures ranks; a student's
/// communicator does not lead there.
Endpoint& get_endpoint(Communicator& comm);

}  // namespace lab::comm

namespace lab {
using comm::get_endpoint;
}  // namespace lab
