#pragma once

#include "common/log/log_expectation.h"

namespace lab::a9 {

/// The lines of a correct run on num_ranks ranks.
LogExpectation expected_log(int num_ranks);

}  // namespace lab::a9
