#pragma once

#include <vector>

#include "common/checks/case.h"

namespace lab {

/// The numbers of ranks that a lab's cases are checked and judged on: a mistake that 4 ranks hide shows on 3, on one
/// rank, on more than 4, or where their number is no power of two.
struct CheckedSizes {
  std::vector<int> for_all = {4, 3, 6};
  std::vector<int> for_cheap = {1, 2, 5, 7, 8};  ///< further ones, for all cases but the costly ones

  /// Each once, in this order.
  std::vector<int> all() const;
  bool include(const Case& test_case, int size) const;
  /// The case as it is checked on `size` ranks: called twice on the first number of ranks on which it runs, once on the
  /// others, since what lives on from call to call does not depend on their number.
  Case on(Case test_case, int size) const;
};

}  // namespace lab
