#include "common/bench/bench_blocks.h"

#include <set>

#include "common/testing/test.h"

namespace lab {
namespace {

TEST_CASE("turns: each has all contenders, and each of them is the first as often as the others") {
  constexpr std::size_t kNum = 5;
  std::vector<int> times_first(kNum, 0);
  for (int turn = 0; turn < 10; ++turn) {
    std::set<std::size_t> measured;
    for (std::size_t place = 0; place < kNum; ++place) measured.insert(rotated(turn, place, kNum));
    CHECK(measured.size() == kNum);
    CHECK(*measured.rbegin() == kNum - 1);
    ++times_first[rotated(turn, 0, kNum)];
  }
  CHECK(times_first == std::vector<int>(kNum, 2));
}

TEST_CASE("sizes: whole elements per rank, none twice; calls: fewer the larger they are") {
  CHECK(bench_sizes({4, 256, 4}, 3) == std::vector<std::int64_t>{12, 60, 252});
  CHECK(bench_sizes({1024, 1024, 4}, 4) == std::vector<std::int64_t>{1024});
  CHECK(whole_bytes(4096, 3) == 4092);
  CHECK(calls_per_block(4) == 40);
  CHECK(calls_per_block(1 << 20) == 2);
  CHECK(calls_per_block(64 << 20) == 1);
}

}  // namespace
}  // namespace lab
