#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "common/comm/group.h"
#include "common/comm/source_line.h"
#include "common/comm/transport.h"

namespace lab::comm {

/// Returns once every member has called it with the same operation and the same dtype and shape: the latest of the
/// members' model times. No payload moves.
/// Cost      ceil(lg P) rounds of empty messages, which no ledger counts and which take no model time
/// Errors    ContractError on the ranks that see a difference, naming both; CommError on the others
std::int64_t agree(Transport& transport, const Group& group, const std::string& operation, const at::Tensor& tensor,
                   SourceLine where, std::int64_t model_time = 0);

}  // namespace lab::comm
