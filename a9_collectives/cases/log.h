#pragma once

#include "common/log/log_expectation.h"

namespace lab::a9 {

/// The lines of a right run on so many ranks.
LogExpectation expected_log(int num_ranks);

}  // namespace lab::a9
