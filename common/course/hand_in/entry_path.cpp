#include "common/course/hand_in/entry_path.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lab {
namespace {

constexpr std::size_t kLongestPath = 1024;
constexpr std::size_t kLongestName = 255;  // what a file system accepts

/// Length of the UTF-8 character at `at`, 0 if there is none: overlong forms and surrogates are not characters.
std::size_t utf8_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80u) return 1;
  if (first >= 0xC2u && first < 0xE0u) return follows(1) ? 2 : 0;
  if ((first & 0xF0u) == 0xE0u) {
    const bool overlong = first == 0xE0u && byte(1) < 0xA0u, surrogate = first == 0xEDu && byte(1) >= 0xA0u;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0u && first < 0xF5u) {
    const bool overlong = first == 0xF0u && byte(1) < 0x90u, beyond = first == 0xF4u && byte(1) >= 0x90u;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

/// Control characters are not printable: those of ASCII and, in UTF-8 the bytes C2 80 to C2 9F, those of Latin-1.
bool is_printable_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    const auto first = static_cast<unsigned char>(text[i]);
    if (length == 0 || first < 0x20 || first == 0x7f) return false;
    if (first == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0) return false;
    i += length;
  }
  return true;
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") parts.push_back(part);
    begin = end + 1;
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
  const std::vector<std::string> parts = parts_of(path);
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
