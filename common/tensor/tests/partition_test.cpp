#include "common/api/partition.h"

#include <limits>
#include <numeric>

#include "common/api/errors.h"
#include "common/testing/test.h"

TEST_CASE("uneven_slice: covers everything, without gap or overlap, sizes differ by at most one, larger ones first") {
  for (int64_t total = 0; total <= 40; ++total) {
    for (int64_t parts = 1; parts <= 9; ++parts) {
      const std::vector<int64_t> sizes = lab::uneven_sizes(total, parts);
      REQUIRE(sizes.size() == static_cast<size_t>(parts));
      int64_t next = 0;
      for (int64_t index = 0; index < parts; ++index) {
        const lab::Slice slice = lab::uneven_slice(total, parts, index);
        CHECK(slice.begin == next);
        CHECK(slice.size == sizes[static_cast<size_t>(index)]);
        CHECK(slice.size == total / parts + (index < total % parts ? 1 : 0));
        next = slice.end();
      }
      CHECK(next == total);
    }
  }
}

TEST_CASE("even_slice: covers everything where it divides and refuses where it does not") {
  for (int64_t total = 0; total <= 40; ++total) {
    for (int64_t parts = 1; parts <= 9; ++parts) {
      if (total % parts != 0) {
        CHECK_THROWS_AS(lab::even_slice(total, parts, 0), lab::ContractError);
        continue;
      }
      int64_t next = 0;
      for (int64_t index = 0; index < parts; ++index) {
        const lab::Slice slice = lab::even_slice(total, parts, index);
        CHECK(slice.begin == next);
        CHECK(slice.size * parts == total);
        next = slice.end();
      }
      CHECK(next == total);
    }
  }
}

TEST_CASE("partition: messages name the total") {
  CHECK_THROWS_WITH_AS(
      lab::even_slice(10, 4, 0, "global batch size"),
      "The global batch size 10 does not divide into 4 equal parts (2 left over): choose a multiple of 4.",
      lab::ContractError);
  CHECK_THROWS_WITH_AS(lab::uneven_slice(10, 4, 4, "number of layers"),
                       "The number of layers is shared by 4 parts, numbered 0 to 3: there is no part 4.",
                       lab::ContractError);
  CHECK_THROWS_WITH_AS(lab::uneven_sizes(-1, 4, "width"), "The width must not be negative, got -1.",
                       lab::ContractError);
  CHECK_THROWS_WITH_AS(lab::uneven_sizes(1, 0, "width"), "The width must be shared by at least 1 part, got 0.",
                       lab::ContractError);
}

TEST_CASE("partition: bad arguments are refused by every function") {
  for (const auto slice : {lab::even_slice, lab::uneven_slice}) {
    CHECK_THROWS_AS(slice(8, 4, -1, "total"), lab::ContractError);
    CHECK_THROWS_AS(slice(8, 4, 4, "total"), lab::ContractError);
    CHECK_THROWS_AS(slice(8, 0, 0, "total"), lab::ContractError);
    CHECK_THROWS_AS(slice(8, -2, 0, "total"), lab::ContractError);
    CHECK_THROWS_AS(slice(-8, 4, 0, "total"), lab::ContractError);
  }
}

TEST_CASE("partition: the largest total does not overflow") {
  const int64_t largest = std::numeric_limits<int64_t>::max();
  CHECK(lab::uneven_slice(largest, 9, 8).end() == largest);
  CHECK(lab::even_slice(largest, 7, 6).end() == largest);
}
