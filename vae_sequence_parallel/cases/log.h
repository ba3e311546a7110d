#pragma once

#include "common/log/log_expectation.h"

namespace lab::vae {

/// The lines of a correct run on `num_ranks` ranks.
LogExpectation expected_log(int num_ranks);

/// The same for `modules` and for `test` alone.
LogExpectation expected_modules_log(int num_ranks);
LogExpectation expected_test_log(int num_ranks);

}  // namespace lab::vae
