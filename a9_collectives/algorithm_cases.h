#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::a9 {

/// The better algorithms by name, held to what makes them better: rounds, messages or bytes.
std::vector<Case> algorithm_cases();

}  // namespace lab::a9
