#pragma once

#include <vector>

#include "common/checks/case.h"

namespace lab::optc {

/// Some mini-batches through pipelines that are not drained between them: weights and losses, compared with an
/// emulation in one process, and what is sent.
std::vector<Case> stale_cases();

}  // namespace lab::optc
