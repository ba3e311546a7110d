#include "common/base/number_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/option_value.h"

namespace lab {

std::vector<std::int64_t> numbers_in(const std::string& option, const std::string& text, const NumberRule& rule) {
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto number = option::whole<std::int64_t>(text.substr(begin, end - begin));
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

}  // namespace lab
