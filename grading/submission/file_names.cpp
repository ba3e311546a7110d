#include "grading/submission/file_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "common/base/text.h"
#include "common/course/hand_in/entry_path.h"

namespace lab::grading {
namespace {

std::string lower_base_name(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

}  // namespace

std::string name_list(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNamed = 10;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNamed); ++i)
    list += fmt::format("{}'{}'", i == 0 ? "" : ", ", printable_name(names[i]));
  return names.size() > kMaxNamed ? list + fmt::format(" and {} more", names.size() - kMaxNamed) : list;
}

std::optional<std::string> meant_file(const std::string& name, const std::vector<std::string>& missing) {
  std::vector<std::string> same_name;
  for (const std::string& file : missing) {
    if (lower_base_name(file) == lower_base_name(name)) same_name.push_back(file);
  }
  constexpr std::size_t kMaxLength = 200;  // a longer name is not close to any, and comparing takes long
  if (name.size() > kMaxLength) return same_name.empty() ? std::nullopt : std::optional(same_name.front());
  // Of several in different folders, the one with the nearest path, if any; else the first.
  if (!same_name.empty()) return nearest(name, same_name).value_or(same_name.front());
  return nearest(name, missing);
}

}  // namespace lab::grading
