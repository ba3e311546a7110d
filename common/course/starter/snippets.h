#pragma once

#include <map>
#include <string>
#include <vector>

namespace lab {

// A5's hand-in is one markdown file; code stands in it as fenced blocks that name their file:
//
//     ```cpp student/baseline.cpp
//     ...
//     ```

/// The markdown with every such block filled with the file's text; a file that has no block gets one at the end, under
/// the heading `## Code`.
std::string with_snippets(const std::string& markdown, const std::map<std::string, std::string>& files);

/// The files that a markdown's blocks hold, by name.
/// Errors    UsageError: a block without an end, a file twice, a path that leaves `student/`
std::map<std::string, std::string> snippets_of(const std::string& markdown, const std::string& path);

/// The markdown without what stands in such blocks; as it is where a block has no end.
std::string without_snippets(const std::string& markdown);

}  // namespace lab
