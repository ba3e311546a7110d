#include "common/base/option_value.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "common/api/errors.h"

namespace lab::option {

void throw_wrong_value(const std::string& option, const Expectation& expectation, const std::string& got) {
  throw UsageError(fmt::format("{}: expected {}, got {}; try {} {}", option, expectation.expected, got, option,
                               expectation.example));
}

std::string quoted(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return "'" + text + "'";
}

std::string listed(const std::vector<std::string>& choices) {
  std::string list;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) list += i + 1 == choices.size() ? " or " : ", ";
    list += choices[i];
  }
  return list;
}

std::string integer_expected(const std::string& min, const std::string& max) {
  if (max == std::to_string(std::numeric_limits<std::int64_t>::max())) {
    return fmt::format("an integer of at least {}", min);
  }
  return fmt::format("an integer from {} to {}", min, max);
}

}  // namespace lab::option
