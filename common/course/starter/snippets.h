#pragma once

#include <map>
#include <string>
#include <vector>

namespace lab {

// A5's hand-in is one Markdown file; it contains code as fenced blocks that name their file:
//
//     ```cpp student/baseline.cpp
//     ...
//     ```

/// The Markdown with every such block filled with the file's text; a file without a block gets one at the end, under
/// the heading `## Code`.
std::string with_snippets(const std::string& markdown, const std::map<std::string, std::string>& files);

/// The files in the blocks of a Markdown text, by name.
/// Errors    UsageError: a block without an end, a file twice, a path that leaves `student/`
std::map<std::string, std::string> find_snippets(const std::string& markdown, const std::string& path);

/// The Markdown without the contents of such blocks; unchanged if a block has no end.
std::string without_snippets(const std::string& markdown);

}  // namespace lab
