#include "common/base/escape_sequences.h"

#include <cstddef>

namespace lab {
namespace {

/// The length of the escape sequence at the front of text: ESC [ ... letter, ESC ] ... BEL (or ESC \), or ESC and up to
/// two more characters. 0: there is none, or it is cut off.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '\x1B') return 0;
  const auto is_between = [&](std::size_t at, char first, char last) { return text[at] >= first && text[at] <= last; };
  if (text[1] == ']') {
    const std::size_t end = text.find_first_of("\a\x1B\n", 2);
    if (end == std::string_view::npos || text[end] == '\n') return 0;
    return text[end] == '\a' ? end + 1 : text.substr(end, 2) == "\x1B\\" ? end + 2 : 0;
  }
  std::size_t at = 1;
  if (text[1] == '[') {
    for (++at; at < text.size() && is_between(at, '0', '?');) ++at;  // parameters
  }
  while (at < text.size() && is_between(at, ' ', '/')) ++at;
  return at < text.size() && is_between(at, '0', '~') ? at + 1 : 0;
}

}  // namespace

std::string without_escapes(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t length = escape_length(text);
    if (length == 0) plain += text.front();
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return plain;
}

}  // namespace lab
