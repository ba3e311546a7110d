#include <cmath>
#include <limits>

#include "common/tensor/comparison.h"
#include "common/testing/test.h"

using lab::CombinedComparison;
using lab::Comparison;

TEST_CASE("combined: nothing added is close") {
  const Comparison all = CombinedComparison().result();
  CHECK(all.close);
  CHECK(all.max_diff == 0);
  CHECK(all.mean_diff == 0);
}

TEST_CASE("combined: the worst of each, and the mean over all elements") {
  CombinedComparison combined;
  combined.add({true, 3, 1, 0.5}, 2);
  combined.add({true, 2, 2, 0.75}, 6);
  const Comparison all = combined.result();
  CHECK(all.close);
  CHECK(all.max_diff == 3);
  CHECK(all.mean_diff == (2 * 1 + 6 * 2) / 8.0);
  CHECK(all.relative_norm == 0.75);
  combined.add({false, 0, 0, 0}, 1);
  CHECK_FALSE(combined.result().close);
}

TEST_CASE("combined: NaN stays, wherever it comes, and so does a missing tensor") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool first : {true, false}) {
    CombinedComparison combined;
    if (first) combined.add({false, nan, nan, nan}, 1);
    combined.add({true, 1, 1, 1}, 1);
    if (!first) combined.add_missing(1);
    const Comparison all = combined.result();
    CHECK_FALSE(all.close);
    CHECK(std::isnan(all.max_diff));
    CHECK(std::isnan(all.mean_diff));
    CHECK(std::isnan(all.relative_norm));
  }
}
