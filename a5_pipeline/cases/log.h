#pragma once

#include "common/log/log_expectation.h"

namespace lab::a5 {

/// The lines of a right run on so many ranks, with the sizes and the schedule that are the defaults.
LogExpectation expected_log(int num_ranks);

}  // namespace lab::a5
