#include "common/base/lab_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/api/errors.h"
#include "common/base/text.h"

namespace lab {

std::string shorten_name(const std::string& lab) {
  return lab.substr(0, lab.find('_'));
}

std::optional<std::size_t> find_lab(const std::string& name, const std::vector<std::string>& folders) {
  for (std::size_t i = 0; i < folders.size(); ++i) {
    if (name == folders[i] || name == shorten_name(folders[i])) return i;
  }
  return std::nullopt;
}

std::size_t lab_named(const std::string& name, const std::vector<std::string>& folders) {
  if (const auto found = find_lab(name, folders)) return *found;
  std::vector<std::string> short_names;
  for (const std::string& folder : folders) short_names.push_back(shorten_name(folder));
  std::string hint = did_you_mean(name, folders);
  if (hint.empty()) hint = did_you_mean(name, short_names);
  if (hint.empty()) hint = fmt::format("; expected one of {}", fmt::join(short_names, ", "));
  throw UsageError(fmt::format("unknown lab '{}'{}", name, hint));
}

}  // namespace lab
