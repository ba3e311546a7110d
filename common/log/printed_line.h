#pragma once

#include <string>
#include <variant>

#include "common/log/match_line.h"

namespace lab {

/// What a right program prints. kDiffer: a comparison that must say False (a weight before and after its update).
enum class Expect { kMatch, kDiffer };

/// A match line and what it should say.
struct JudgedLine {
  MatchLine line;
  Expect expect = Expect::kMatch;
};

/// True where the line says what was expected; figures that are not finite never are.
bool as_expected(const JudgedLine& judged);

/// One line that a rank printed: text, a comparison, or a skipped check.
using PrintedLine = std::variant<std::string, JudgedLine, SkippedLine>;

}  // namespace lab
