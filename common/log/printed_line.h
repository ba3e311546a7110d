#pragma once

#include <string>
#include <variant>

#include "common/log/match_line.h"

namespace lab::log {

/// What a correct program prints. kDiffer: a comparison that must say False (a weight before and after its update).
enum class Expect { kMatch, kDiffer };

/// A match line and what it should say.
struct JudgedLine {
  MatchLine line;
  Expect expect = Expect::kMatch;
};

/// True if the line says what was expected; never for figures that are not finite.
bool as_expected(const JudgedLine& judged);

/// One line that a rank printed: text, a comparison, or a skipped check.
using PrintedLine = std::variant<std::string, JudgedLine, SkippedLine>;

}  // namespace lab::log
