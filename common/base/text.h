#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// The text without what only a terminal understands: colours, links, titles. A sequence that is cut off stays.
/// Example   without_escapes("\x1B[31mred\x1B[0m") == "red"
std::string without_escapes(std::string_view text);

/// The text on one line: every run of control characters, with the spaces around it, is one space; none at either end.
/// Example   one_line("a\n  b\n") == "a b"
std::string one_line(std::string_view text);

/// "1 rank", "3 ranks"; "2 micro-batches" with `many` given.
template <typename Integer>
std::string counted(Integer count, const std::string& one, const std::string& many = "") {
  return std::to_string(count) + " " + (count == 1 ? one : many.empty() ? one + "s" : many);
}

/// The bytes of the character that begins at `at`: 1 to 4; 0 where no UTF-8 character begins. Overlong forms,
/// surrogates and code points above U+10FFFF are invalid.
std::size_t utf8_length_at(std::string_view text, std::size_t at);

/// The whole text is UTF-8; an empty one is.
bool is_utf8(std::string_view text);

/// Untrusted text made safe for JSON, Markdown and a terminal: bytes that are not UTF-8, control characters other than
/// line end and tab, and bidirectional marks become U+FFFD each; text beyond `max_bytes` is cut, and a note at the end
/// says how much.
std::string safe_text(std::string_view text, std::size_t max_bytes);

/// Text for a log that GitHub Actions or another CI service may read: in none of its lines does it look like a command to
/// the service, such as "::error::..." at the beginning or "##[error]..." anywhere.
/// Example   "  ::error::x" becomes "  : :error::x", "a ##[group]" becomes "a # #[group]"
/// Source    actions/runner, ActionCommand.cs: blanks before "::" are ignored
std::string without_commands(std::string_view text);

/// Puts `by` in the place of every `word`, which must not be empty.
void replace_all(std::string& text, std::string_view word, std::string_view by);

/// The parts between the separators, one more than there are separators: an empty text has one, empty part.
/// Example   split("a,,b", ','): "a", "", "b"
std::vector<std::string_view> split(std::string_view text, char separator);

/// The text's lines, each with its line break; the last one may have none.
/// Example   "a\nb": "a\n", "b"
std::vector<std::string> list_lines(std::string_view text);

/// The line without its "\n" or "\r\n".
std::string_view without_line_break(std::string_view line);

/// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that was probably meant, or nothing if none is near: at most a third of its letters differ.
std::optional<std::string> nearest(std::string_view text, const std::vector<std::string>& candidates);

/// "; did you mean 'ring'?", to go on after a message; empty if no candidate is near.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace lab
