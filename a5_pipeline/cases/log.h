#pragma once

#include "common/log/log_expectation.h"

namespace lab::a5 {

/// The lines of a correct run on `num_ranks` ranks, with the default sizes and schedule.
LogExpectation expected_log(int num_ranks);

}  // namespace lab::a5
