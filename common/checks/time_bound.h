#pragma once

#include <string>
#include <vector>

#include "common/base/model_time.h"
#include "common/checks/case.h"

namespace lab {

/// Why ranks that took these model times exceed the bound; empty: they do not.
/// Example   "takes 16.4 ms of model time, expected at most 7.11 (it can be done in 5.69): one stage at work at a time:
///           3.0 of 4 stages idle"
std::string beyond_time(const TimeBound& bound, const std::vector<ModelTime>& by_rank);

}  // namespace lab
