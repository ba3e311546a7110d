#pragma once

#include <string>
#include <string_view>

namespace lab::grading {

/// Words on one line that show in Markdown as they are: no links, emphasis, HTML or table borders come of them. What
/// would stand for itself anyway stays, so that the source can be read, too.
/// Example   markdown_text("a*b|c") == "a\\*b\\|c"; markdown_text("a9.all_to_all [3, 0]") is unchanged
std::string markdown_text(std::string_view words);

/// A fenced block; the fence is longer than any in the text.
std::string markdown_block(std::string_view text);

}  // namespace lab::grading
