#include "common/course/lines.h"

namespace lab {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

std::string_view without_line_break(std::string_view line) {
  for (const char last : {'\n', '\r'}) {
    if (!line.empty() && line.back() == last) line.remove_suffix(1);
  }
  return line;
}

}  // namespace lab
