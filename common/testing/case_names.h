#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/checks/case.h"

namespace lab::testing {

/// The first case without a call, or with another's name; empty: there is none.
inline std::string misnamed_case(const std::vector<Case>& cases, const CallTable& calls) {
  std::vector<std::string> names;
  for (const Case& test_case : cases) {
    if (calls.count(test_case.task) != 1) return test_case.name + " has no call";
    if (std::find(names.begin(), names.end(), test_case.name) != names.end()) return test_case.name + " is there twice";
    names.push_back(test_case.name);
  }
  return "";
}

}  // namespace lab::testing
