#pragma once

#include <optional>
#include <string>

namespace lab {

/// A text in UTF-8, and its original encoding.
struct Utf8Text {
  std::string text;
  std::string was;  ///< "UTF-16", "Latin-1", "UTF-8 with a byte order mark"; empty: plain UTF-8 already
};

/// Whether a file of this name is text: code, Markdown, a log.
bool is_text_by_name(const std::string& name);

/// Converts what an editor may have saved: UTF-8 with a byte order mark, UTF-16 (with a mark, or told by its zero
/// bytes), else Windows-1252, of which Latin-1 is a part. Line ends stay as they are. nullopt if the bytes are not
/// text in any of these: there is a zero that UTF-16 does not explain.
/// Example   utf8_text("na\xEFve")->text == "na\xC3\xAFve"
std::optional<Utf8Text> utf8_text(const std::string& bytes);

}  // namespace lab
