#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/report/expected_line.h"
#include "common/report/log_lines.h"

namespace lab {

struct LogProblem {
  std::size_t line_number = 0;  ///< where a reader should look
  std::string sentence;         ///< begins with "line N: "
};

/// Holds one rank's lines against what is expected of it. Empty exactly when both have the same length and every line
/// is accepted in its place; otherwise the longest common part is found first, so that one missing line is one problem.
std::vector<LogProblem> align_rank(int rank, const std::vector<ExpectedLine>& expected,
                                   const std::vector<LogLine>& actual);

}  // namespace lab
