#include "common/course/hand_in/entry_path.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/base/text.h"

namespace lab {
namespace {

constexpr std::size_t kLongestPath = 1024;
constexpr std::size_t kLongestName = 255;  // what a file system accepts

/// Control characters are not printable: those of ASCII and, in UTF-8 the bytes C2 80 to C2 9F, those of Latin-1.
bool is_printable_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length_at(text, i);
    const auto first = static_cast<unsigned char>(text[i]);
    if (length == 0 || first < 0x20 || first == 0x7f) return false;
    if (first == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0) return false;
    i += length;
  }
  return true;
}

std::vector<std::string> split_parts(const std::string& path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) {
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  return parts;
}

bool is_passed_over(const std::string& part) {
  return (part.front() == '.' && part != "..") || part == "__MACOSX" || part == "build";
}

}  // namespace

EntryPath clean_entry_path(const std::string& raw) {
  std::string path = raw;
  std::replace(path.begin(), path.end(), '\\', '/');
  if (!path.empty() && path.front() == '/') return {"", "its path is absolute"};
  if (path.size() > 1 && path[1] == ':') return {"", "its path begins with a drive"};
  const std::vector<std::string> parts = split_parts(path);
  if (std::count(parts.begin(), parts.end(), "..") != 0) return {"", "its path has '..' in it"};
  if (parts.empty()) return {"", ""};  // the folder itself
  if (std::any_of(parts.begin(), parts.end(), is_passed_over)) return {"", ""};
  std::string cleaned;
  for (const std::string& part : parts) {
    if (part.size() > kLongestName) return {"", "its name is too long"};
    cleaned += (cleaned.empty() ? "" : "/") + part;
  }
  if (cleaned.size() > kLongestPath) return {"", "its path is too long"};
  if (!is_printable_utf8(cleaned)) return {"", "its name is not printable UTF-8"};
  return {cleaned, ""};
}

std::string printable_name(const std::string& raw) {
  constexpr std::size_t kShown = 80;
  std::string name = raw.substr(0, kShown);
  for (char& c : name) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return raw.size() > kShown ? name + "..." : name;
}

}  // namespace lab
