#include "common/base/utf8.h"

#include <fmt/format.h>

#include "common/base/byte_count.h"

namespace lab {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// The code point of a character of two bytes or more.
unsigned code_point(std::string_view character) {
  unsigned code = byte_at(character, 0) & (0xFFU >> (character.size() + 1));
  for (std::size_t i = 1; i < character.size(); ++i) code = (code << 6U) | (byte_at(character, i) & 0x3FU);
  return code;
}

/// An escape could recolour a terminal, a turned direction could show other words than are there.
bool is_harmful(std::string_view character) {
  const unsigned first = byte_at(character, 0);
  if (character.size() == 1) return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
  const unsigned code = code_point(character);
  return code < 0xA0 || (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

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

}  // namespace lab
