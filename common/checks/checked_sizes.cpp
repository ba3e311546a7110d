#include "common/checks/checked_sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"

namespace lab {
namespace {

bool has(const std::vector<int>& sizes, int size) {
  return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
}

}  // namespace

std::vector<int> CheckedSizes::all() const {
  std::vector<int> sizes;
  for (const std::vector<int>& some : {for_all, for_cheap}) {
    for (const int size : some) {
      if (!has(sizes, size)) sizes.push_back(size);
    }
  }
  return sizes;
}

bool CheckedSizes::include(const Case& test_case, int size) const {
  return has(for_all, size) || (!test_case.costly && has(for_cheap, size));
}

Case CheckedSizes::on(Case test_case, int size) const {
  for (const int earlier : all()) {
    if (earlier == size || !test_case.once.empty()) break;
    if (include(test_case, earlier) && find_skip_reason(test_case, earlier).empty())
      test_case.once = fmt::format("it is called twice on {}", counted(earlier, "rank"));
  }
  return test_case;
}

}  // namespace lab
