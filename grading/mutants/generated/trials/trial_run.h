#pragma once

#include "common/checks/case.h"
#include "grading/mutants/generated/trials/orders.h"

namespace lab::grading::generated {

/// Performs one case on ranks that are threads of this process, and judges it as `lab check` does.
RunReport performed(const Case& test_case, const TrialRun& place, const CallTable& calls);

}  // namespace lab::grading::generated
