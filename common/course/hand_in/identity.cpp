#include "common/course/hand_in/identity.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/rubric/toml_table.h"

namespace lab {
namespace {

constexpr char kCommentBegin[] = "<!-- identity.toml";
constexpr char kCommentEnd[] = "-->";

/// One line of printable characters, not too long.
std::string printable(const std::string& value) {
  constexpr std::size_t kMaxBytes = 100;
  std::string line = safe_text(one_line(value), kMaxBytes);
  // It is put into a comment of a Markdown file.
  for (std::size_t at = line.find("--"); at != std::string::npos; at = line.find("--")) line.erase(at, 1);
  const std::size_t first = line.find_first_not_of(' '), last = line.find_last_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first, last - first + 1);
}

std::string quoted(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

}  // namespace

std::string to_text(const Identity& identity) {
  if (identity.name.empty()) return identity.id;
  return identity.id.empty() ? identity.name : fmt::format("{} ({})", identity.name, identity.id);
}

std::string to_toml(const Identity& identity) {
  return fmt::format("name = {}\nid = {}\n", quoted(printable(identity.name)), quoted(printable(identity.id)));
}

Identity parse_identity(const std::string& toml, const std::string& path) {
  const TomlTable table = TomlTable::parse(toml, path);
  const Identity identity = {printable(table.string("name", "")), printable(table.string("id", ""))};
  if (identity.empty()) throw UsageError(fmt::format("{}: expected name = \"...\" or id = \"...\", got neither", path));
  return identity;
}

Identity load_identity(const std::string& root) {
  const std::string path = root + "/" + kIdentityInTree;
  return std::filesystem::exists(path) ? parse_identity(read_file(path), path) : Identity();
}

void save_identity(const std::string& root, const Identity& identity) {
  write_file_atomically(root + "/" + kIdentityInTree, to_toml(identity));
}

std::string with_identity(const std::string& markdown, const Identity& identity) {
  std::string text = split_identity(markdown).text;
  if (!text.empty() && text.back() != '\n') text += '\n';
  return fmt::format("{}\n{}\n{}{}\n", text, kCommentBegin, to_toml(identity), kCommentEnd);
}

SignedMarkdown split_identity(const std::string& markdown) {
  const std::size_t begin = markdown.rfind(kCommentBegin);
  const std::size_t content = begin + sizeof(kCommentBegin) - 1;
  const std::size_t end = begin == std::string::npos ? begin : markdown.find(kCommentEnd, content);
  if (end == std::string::npos) return {markdown, std::nullopt};
  std::string before = markdown.substr(0, begin), after = markdown.substr(end + sizeof(kCommentEnd) - 1);
  if (before.size() >= 2 && before.compare(before.size() - 2, 2, "\n\n") == 0) before.pop_back();
  if (!after.empty() && after.front() == '\n') after.erase(0, 1);
  return {before + after, markdown.substr(content, end - content)};
}

}  // namespace lab
