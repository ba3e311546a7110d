#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lab {

/// The bytes of the character that begins at `at`: 1 to 4; 0 where no UTF-8 character begins. Overlong forms,
/// surrogates and what lies beyond U+10FFFF are none.
std::size_t utf8_length_at(std::string_view text, std::size_t at);

/// The whole text is UTF-8; an empty one is.
bool is_utf8(std::string_view text);

/// Text from anywhere, made fit for JSON, Markdown and a terminal: bytes that are not UTF-8, control characters other
/// than line end and tab, and marks that turn the direction of writing, are U+FFFD each; what lies beyond `max_bytes`
/// is left out, and how much that was is said at the end.
std::string safe_text(std::string_view text, std::size_t max_bytes);

}  // namespace lab
