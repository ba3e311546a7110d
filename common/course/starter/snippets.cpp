#include "common/course/starter/snippets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/course/rubric/rubric_check.h"

namespace lab {
namespace {

constexpr std::size_t kShortestFence = 3;

/// The backquotes that a line begins with, after at most three blanks.
struct Fence {
  std::size_t length = 0;
  std::string info;  ///< what follows: "cpp student/baseline.cpp"
};

std::optional<Fence> find_fence(const std::string& line) {
  const std::string_view text = without_line_break(line);
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos || begin > 3) return std::nullopt;
  const std::size_t end = std::min(text.find_first_not_of('`', begin), text.size());
  if (end - begin < kShortestFence || text.find('`', end) != std::string_view::npos) return std::nullopt;
  return Fence{end - begin, std::string(text.substr(end))};
}

/// "student/baseline.cpp" of "cpp student/baseline.cpp"; empty for a block that names no file.
std::string file_named_in(const std::string& info) {
  std::istringstream words(info);
  std::string language, name;
  words >> language >> name;
  return language == "cpp" ? name : "";
}

/// A piece of the Markdown: lines outside of blocks that name a file, or such a block.
struct MarkdownPiece {
  std::string file;  ///< empty: outside
  std::string text;  ///< its contents, without the fences
  std::size_t line = 0;
};

/// Errors    UsageError: a block that names a file has no end
std::vector<MarkdownPiece> split_pieces(const std::string& markdown, const std::string& path) {
  std::vector<MarkdownPiece> pieces = {{}};
  std::size_t inside = 0;  // length of the fence that has begun
  std::size_t number = 0;
  for (const std::string& line : list_lines(markdown)) {
    ++number;
    const auto fence = find_fence(line);
    const bool closes =
        inside != 0 && fence && fence->length >= inside && fence->info.find_first_not_of(" \t") == std::string::npos;
    const bool opens = inside == 0 && fence;
    if (opens && !file_named_in(fence->info).empty()) {
      pieces.push_back({file_named_in(fence->info), "", number});
    } else if (closes && !pieces.back().file.empty()) {
      pieces.emplace_back();
    } else {
      pieces.back().text += line;
    }
    if (opens) inside = fence->length;
    if (closes) inside = 0;
  }
  if (!pieces.back().file.empty()) {
    throw UsageError(fmt::format("{}:{}: the block of {} has no end; expected a line of backquotes after it", path,
                                 pieces.back().line, pieces.back().file));
  }
  return pieces;
}

/// Longer than any row of backquotes in the text, so that none ends the block.
std::string block_with(const std::string& file, const std::string& text) {
  std::size_t longest = 0, row = 0;
  for (const char c : text) {
    row = c == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  const std::string fence(std::max(kShortestFence, longest + 1), '`');
  const bool ends_line = text.empty() || text.back() == '\n';
  return fmt::format("{}cpp {}\n{}{}{}\n", fence, file, text, ends_line ? "" : "\n", fence);
}

}  // namespace

std::string with_snippets(const std::string& markdown, const std::map<std::string, std::string>& files) {
  std::string filled;
  std::set<std::string> done;
  for (const MarkdownPiece& piece : split_pieces(markdown, "the answers")) {
    const auto file = files.find(piece.file);
    filled += piece.file.empty() ? piece.text : block_with(piece.file, file == files.end() ? piece.text : file->second);
    done.insert(piece.file);
  }
  const std::string heading = "## Code\n";
  bool has_heading =
      filled.compare(0, heading.size(), heading) == 0 || filled.find("\n" + heading) != std::string::npos;
  for (const auto& [name, text] : files) {
    if (done.count(name) != 0) continue;
    if (!filled.empty() && filled.back() != '\n') filled += '\n';
    if (!has_heading) filled += (filled.empty() ? "" : "\n") + heading;
    has_heading = true;
    filled += "\n" + block_with(name, text);
  }
  return filled;
}

std::map<std::string, std::string> find_snippets(const std::string& markdown, const std::string& path) {
  std::map<std::string, std::string> files;
  for (const MarkdownPiece& piece : split_pieces(markdown, path)) {
    if (piece.file.empty()) continue;
    const std::string place = fmt::format("{}:{}", path, piece.line);
    if (!is_inner_path(piece.file) || piece.file.compare(0, 8, "student/") != 0) {
      throw UsageError(fmt::format("{}: expected a block of a file in student/, got '{}'", place, piece.file));
    }
    if (!files.emplace(piece.file, piece.text).second) {
      throw UsageError(fmt::format("{}: {} has a block already; expected one for each file", place, piece.file));
    }
  }
  return files;
}

std::string without_snippets(const std::string& markdown) {
  try {
    std::string text;
    for (const MarkdownPiece& piece : split_pieces(markdown, "the answers")) {
      if (piece.file.empty()) text += piece.text;
    }
    return text;
  } catch (const UsageError&) {
    return markdown;
  }
}

}  // namespace lab
