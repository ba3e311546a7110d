#include "grading/compile/first_errors.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/text.h"

namespace lab::grading {
namespace {

/// GNU ld does not call these errors, as others do; the last line, of the compiler that called it, would be the first.
constexpr std::array<std::string_view, 3> kErrors = {"error", "undefined reference to", "multiple definition of"};

bool is_error(const std::string& line) {
  return std::any_of(kErrors.begin(), kErrors.end(),
                     [&](std::string_view words) { return line.find(words) != std::string::npos; });
}

}  // namespace

std::string first_errors(const std::string& output) {
  constexpr int kMostLines = 12;
  constexpr std::size_t kLongestLine = 300, kMostWithoutError = 1000;
  std::string kept;
  int count = 0;
  for (const std::string& line : lines_of(output)) {
    if (count == 0 && !is_error(line)) continue;
    if (count++ == kMostLines) break;
    kept.append(without_line_break(line).substr(0, kLongestLine)).append("\n");
  }
  return kept.empty() ? output.substr(0, kMostWithoutError) : kept;
}

}  // namespace lab::grading
