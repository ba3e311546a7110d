#include "common/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "common/base/numbers.h"

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

namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// "[..." or "vso[..."
bool is_bracketed_word(std::string_view text) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  const auto end = std::find_if_not(text.begin(), text.end(), is_letter);
  return end != text.end() && *end == '[';
}

/// The code point of a character of two bytes or more.
unsigned code_point(std::string_view character) {
  unsigned code = byte_at(character, 0) & (0xFFU >> (character.size() + 1));
  for (std::size_t i = 1; i < character.size(); ++i) code = (code << 6U) | (byte_at(character, i) & 0x3FU);
  return code;
}

/// An escape could recolour a terminal; a bidirectional mark could make it show other text than is there.
bool is_harmful(std::string_view character) {
  const unsigned first = byte_at(character, 0);
  if (character.size() == 1) return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
  const unsigned code = code_point(character);
  return code < 0xA0 || (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size();) {
    // A run of blanks: replaced as a whole if it contains a control character, else kept as it is.
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

std::size_t utf8_length_at(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, at + i) & 0xC0U) != 0x80) return 0;
  }
  const unsigned code = code_point(text.substr(at, length));
  const unsigned least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  return code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF) ? 0 : length;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length_at(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string safe_text(std::string_view text, std::size_t max_bytes) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length_at(text, at);
    const std::string_view character = text.substr(at, length);
    const std::string_view shown = length == 0 || is_harmful(character) ? kReplacement : character;
    if (safe.size() + shown.size() > max_bytes) {
      return safe + fmt::format(" ... ({} more)", describe_bytes(text.size() - at));
    }
    safe += shown;
    at += length == 0 ? 1 : length;
  }
  return safe;
}

std::string without_commands(std::string_view text) {
  std::string safe;
  bool at_beginning = true;  // nothing but blanks so far: whatever is not printable ASCII may be one
  for (std::size_t at = 0; at < text.size(); ++at) {
    const unsigned byte = byte_at(text, at);
    safe += text[at];
    const std::string_view pair = text.substr(at, 2);
    if ((pair == "::" && at_beginning) || (pair == "##" && is_bracketed_word(text.substr(at + 2)))) safe += ' ';
    if (text[at] == '\n' || text[at] == '\r') {
      at_beginning = true;
    } else if (byte > ' ' && byte < 0x7F) {
      at_beginning = false;
    }
  }
  return safe;
}

void replace_all(std::string& text, std::string_view word, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
    text.replace(at, word.size(), by);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string> list_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) lines.emplace_back(line).push_back('\n');
  lines.back().pop_back();
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

std::string_view without_line_break(std::string_view line) {
  for (const char last : {'\n', '\r'}) {
    if (!line.empty() && line.back() == last) line.remove_suffix(1);
  }
  return line;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // rows[i][j]: distance of a's first i letters and b's first j. Names are short, so the whole table is kept.
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const bool same = a[i - 1] == b[j - 1];
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[a.size()][b.size()];
}

std::optional<std::string> nearest(std::string_view text, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(text, candidate);
    if (distance > std::max<std::size_t>(1, candidate.size() / 3)) continue;
    if (!best || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates) {
  const auto meant = nearest(text, candidates);
  return meant ? "; did you mean '" + *meant + "'?" : "";
}

}  // namespace lab
