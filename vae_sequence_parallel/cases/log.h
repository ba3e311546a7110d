#pragma once

#include "common/log/log_expectation.h"

namespace lab::vae {

/// The lines of a right run on so many ranks.
LogExpectation expected_log(int num_ranks);

/// The same of `modules` and of `test` alone.
LogExpectation expected_modules_log(int num_ranks);
LogExpectation expected_test_log(int num_ranks);

}  // namespace lab::vae
