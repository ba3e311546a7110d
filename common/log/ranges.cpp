#include "common/log/ranges.h"

#include <iterator>

#include "common/base/text.h"
#include "common/log/line_head.h"

namespace lab::log {

std::string text_of_ranges(const std::set<int>& numbers) {
  std::string text;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first, next = std::next(first);
    while (next != numbers.end() && *next == *last + 1) last = next++;
    if (!text.empty()) text += ',';
    text += std::to_string(*first);
    if (last != first) text += '-' + std::to_string(*last);
    first = next;
  }
  return text;
}

std::optional<std::set<int>> parse_ranges(std::string_view text, int max) {
  std::set<int> numbers;
  for (std::string_view part : split(text, ',')) {
    const std::optional<int> first = take_number(part);
    const std::optional<int> last = take_literal(part, "-") ? take_number(part) : first;
    if (!first || !last || !part.empty() || *last > max) return std::nullopt;
    for (int number = *first; number <= *last; ++number) numbers.insert(number);
  }
  if (text_of_ranges(numbers) != text) return std::nullopt;
  return numbers;
}

}  // namespace lab::log
