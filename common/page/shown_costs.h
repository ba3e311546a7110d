#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/costs.h"
#include "common/page/result_page.h"

namespace lab::page {

/// "21.8 ms"
std::string text_of_time(double seconds);

/// With a space before every three digits: "1 234 567".
std::string text_of_count(std::int64_t count);

/// What has a bound, next to it: "model time", "21.8 ms", "8.89 ms".
std::vector<ShownCost> shown_costs(const CaseFigures& used, const CaseFigures& most);

}  // namespace lab::page
