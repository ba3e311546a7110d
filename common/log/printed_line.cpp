#include "common/log/printed_line.h"

#include <cmath>

namespace lab::log {

bool as_expected(const JudgedLine& judged) {
  const MatchLine& line = judged.line;
  if (!std::isfinite(line.max_diff) || !std::isfinite(line.mean_diff)) return false;
  return line.match == (judged.expect == Expect::kMatch);
}

}  // namespace lab::log
