#include "grading/similarity/winnowing.h"

#include <algorithm>
#include <random>
#include <set>

#include "common/testing/plain_test.h"

namespace {

using namespace lab::grading;

std::vector<NormalToken> tokens_of(const std::vector<int>& kinds) {
  std::vector<NormalToken> tokens;
  for (const int kind : kinds) tokens.push_back({static_cast<std::uint64_t>(kind), 0, 0, 1});
  return tokens;
}

std::set<std::uint64_t> fingerprints_of(const std::vector<int>& kinds, const WinnowingSizes& sizes) {
  const std::vector<std::uint64_t> runs = run_checksums(tokens_of(kinds), sizes.run_tokens);
  std::set<std::uint64_t> found;
  for (const std::size_t i : winnowed(runs, sizes.window_runs)) found.insert(runs[i]);
  return found;
}

}  // namespace

TEST_CASE("winnowing: the paper's example") {
  const std::vector<std::uint64_t> checksums = {77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98};
  std::vector<std::uint64_t> chosen;
  for (const std::size_t i : winnowed(checksums, 4)) chosen.push_back(checksums[i]);
  CHECK(chosen == std::vector<std::uint64_t>{17, 17, 8, 39, 17});
}

TEST_CASE("winnowing: what is short") {
  CHECK(winnowed({}, 4).empty());
  CHECK(winnowed({5, 3}, 4) == std::vector<std::size_t>{1});
  CHECK(winnowed({7, 7, 7, 7, 7}, 4) == std::vector<std::size_t>{3, 4});
  CHECK(run_checksums(tokens_of({1, 2}), 3).empty());
  CHECK(run_checksums(tokens_of({1, 2, 3}), 3).size() == 1);
}

TEST_CASE("winnowing: runs are told apart by their tokens and the order of these") {
  const auto one_run = [](const std::vector<int>& kinds) { return run_checksums(tokens_of(kinds), kinds.size())[0]; };
  CHECK(one_run({1, 2, 3}) == one_run({1, 2, 3}));
  CHECK(one_run({1, 2, 3}) != one_run({3, 2, 1}));
  CHECK(one_run({1, 2, 3}) != one_run({1, 2, 4}));
}

TEST_CASE("winnowing: shared tokens of a run and a window are always found, wherever they are") {
  const WinnowingSizes sizes = {5, 4};
  std::mt19937 random(1);
  const auto noise = [&](int from) {
    std::vector<int> kinds(random() % 40);
    for (int& kind : kinds) kind = from + static_cast<int>(random() % 1000);
    return kinds;
  };
  int found = 0;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<int> shared(sizes.run_tokens + sizes.window_runs - 1);
    for (int& kind : shared) kind = static_cast<int>(random() % 20);
    std::vector<int> a = noise(1000), b = noise(5000);
    for (std::vector<int>* side : {&a, &b}) {
      side->insert(side->end(), shared.begin(), shared.end());
      const std::vector<int> rest = noise(side == &a ? 10000 : 20000);
      side->insert(side->end(), rest.begin(), rest.end());
    }
    const std::set<std::uint64_t> in_a = fingerprints_of(a, sizes), in_b = fingerprints_of(b, sizes);
    found += std::any_of(in_a.begin(), in_a.end(), [&](std::uint64_t one) { return in_b.count(one) != 0; }) ? 1 : 0;
  }
  CHECK(found == 500);
}
