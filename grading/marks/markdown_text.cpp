#include "grading/marks/markdown_text.h"

#include <algorithm>
#include <cctype>

#include "common/base/text.h"

namespace lab::grading {
namespace {

bool is_alphanumeric_at(std::string_view text, std::size_t at) {
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

/// Whether the character has a meaning in Markdown at this place.
bool has_meaning(std::string_view text, std::size_t at) {
  switch (text[at]) {
    case '\\':
    case '`':
    case '*':
    case '<':
    case '|':
    case '~': return true;
    case '_': return at == 0 || !is_alphanumeric_at(text, at - 1) || !is_alphanumeric_at(text, at + 1);
    case '&': return is_alphanumeric_at(text, at + 1) || text.substr(at + 1, 1) == "#";
    case ']': return text.substr(at + 1, 1) == "(" || text.substr(at + 1, 1) == "[";
    case '[':
    case '#':
    case '>':
    case '-':
    case '+':
    case '=': return at == 0;
    case '.':
    case ')':  // "1." begins a list
      return at > 0 && std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at),
                                   [](unsigned char c) { return std::isdigit(c) != 0; });
    default: return false;
  }
}

}  // namespace

std::string markdown_text(std::string_view words) {
  const std::string line = one_line(words);
  std::string escaped;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (has_meaning(line, at)) escaped += '\\';
    escaped += line[at];
  }
  return escaped;
}

std::string markdown_block(std::string_view text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  const std::string line_end = text.empty() || text.back() == '\n' ? "" : "\n";
  return fence + "text\n" + std::string(text) + line_end + fence + "\n";
}

}  // namespace lab::grading
