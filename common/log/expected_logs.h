#pragma once

#include <string>
#include <vector>

namespace lab::log {

/// A lab's folder, and its expected_log.txt (expected_run.h).
struct ExpectedLog {
  std::string lab;
  std::string text;
};

/// Those of all labs of the tree that this was built from, by name.
std::vector<ExpectedLog> expected_logs();

}  // namespace lab::log
