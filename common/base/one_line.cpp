#include "common/base/one_line.h"

namespace lab {
namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size();) {
    // A run of blanks: replaced as a whole when it holds a control character, kept as it is otherwise.
    std::size_t end = i;
    bool control = false;
    while (end < text.size() && (text[end] == ' ' || is_control(text[end]))) control |= is_control(text[end++]);
    if (end == i) {
      line += text[i++];
      continue;
    }
    const bool at_an_end = i == 0 || end == text.size();
    if (!at_an_end) line += control ? std::string(" ") : std::string(text.substr(i, end - i));
    i = end;
  }
  return line;
}

}  // namespace lab
