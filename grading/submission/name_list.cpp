#include "grading/submission/name_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "common/course/hand_in/entry_path.h"

namespace lab::grading {

std::string name_list(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNamed = 10;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNamed); ++i)
    list += fmt::format("{}'{}'", i == 0 ? "" : ", ", printable_name(names[i]));
  return names.size() > kMaxNamed ? list + fmt::format(" and {} more", names.size() - kMaxNamed) : list;
}

}  // namespace lab::grading
