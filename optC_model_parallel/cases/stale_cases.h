#pragma once

#include <vector>

#include "common/checks/case.h"

namespace lab::optc {

/// Some mini-batches through pipelines that are not drained between them: weights and losses, compared with an
/// emulation in one process, and what is sent.
std::vector<Case> stale_cases();

/// PipeDream through stages that compute for long: whether they do so at the same time, and hold no more than they must.
/// Not among the lab's lines.
Case pipedream_long_case();

}  // namespace lab::optc
