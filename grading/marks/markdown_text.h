#pragma once

#include <string>
#include <string_view>

namespace lab::grading {

/// Escapes a line of text so that Markdown shows it as it is, without links, emphasis, HTML or table borders.
/// Characters that need no escape stay as they are, so that the source is readable, too.
/// Example   markdown_text("a*b|c") == "a\\*b\\|c"; markdown_text("a9.all_to_all [3, 0]") is unchanged
std::string markdown_text(std::string_view words);

/// A fenced block; the fence is longer than any in the text.
std::string markdown_block(std::string_view text);

}  // namespace lab::grading
