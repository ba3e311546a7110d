#include "common/base/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/option_value.h"

namespace lab {

std::vector<std::int64_t> numbers_in(const std::string& option, const std::string& text, const NumberRule& rule) {
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto number = option::integer<std::int64_t>(text.substr(begin, end - begin));
    if (!number || *number < rule.min || *number > rule.max || *number % rule.multiple_of != 0) {
      const std::string multiples = rule.multiple_of == 1 ? "" : fmt::format("multiples of {} ", rule.multiple_of);
      option::throw_wrong_value(
          option,
          {fmt::format("numbers from {} to {}, {}with commas between them", rule.min, rule.max, multiples),
           fmt::format("{},{}", rule.min, 2 * rule.min)},
          option::quoted(text));
    }
    numbers.push_back(*number);
    begin = end + 1;
  }
  return numbers;
}

std::string describe_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (value /= 1024; value >= 1024 && unit + 1 < kUnits.size(); value /= 1024) ++unit;
  const std::string text = fmt::format("{:.1f}", value);
  return fmt::format("{} {}",
                     text.size() > 2 && text.substr(text.size() - 2) == ".0" ? text.substr(0, text.size() - 2) : text,
                     kUnits[unit]);
}

}  // namespace lab
