#include "common/log/sharing.h"

#include "common/testing/plain_test.h"

namespace {

using lab::ResourceUse;
using lab::log::RankReport;

/// Two ranks of four that compute, one that computes twice as much, and one that does nothing.
std::vector<ResourceUse> four_ranks() {
  return {{1000, {40, 0}, {2'000'000, 1'000'000, 900'000, 100'000}},
          {1000, {40, 0}, {2'000'000, 1'000'000, 900'000, 100'000}},
          {2000, {80, 0}, {2'500'000, 2'000'000, 500'000, 0}},
          {0, {10, 0}, {100'000, 0, 100'000, 0}}};
}

}  // namespace

TEST_CASE("sharing: the slowest rank decides the speed-up, the busiest one the work") {
  const lab::log::Sharing sharing =
      lab::log::describe_sharing("Part", four_ranks(), {4000, {100, 0}, {4'000'000, 4'000'000, 0, 0}});
  CHECK(sharing.num_ranks == 4);
  CHECK(sharing.speed_up == doctest::Approx(1.6));
  CHECK(sharing.work == doctest::Approx(2));
  CHECK(sharing.peak == doctest::Approx(0.8));
  CHECK(sharing.waiting == doctest::Approx(1 - 4.2 / 10));  // what is not work or overhead, of 4 times 2.5 us
  CHECK(lab::log::get_text(sharing) == "speed-up 1.60 of 4 | work 2.00 | waiting 58 % | peak 0.80 of serial");
}

TEST_CASE("sharing: what is not known is left out") {
  lab::log::Sharing sharing = lab::log::describe_sharing("Part", four_ranks(), {});
  CHECK(lab::log::get_text(sharing) == "model time 0.0025 ms | waiting 58 %");
  sharing = lab::log::describe_sharing("Part", four_ranks(), {4000, {0, 0}, {4'000'000, 4'000'000, 0, 0}});
  CHECK(lab::log::get_text(sharing) == "speed-up 1.60 of 4 | work 2.00 | waiting 58 %");
  CHECK(lab::log::get_text(lab::log::describe_sharing("Nothing", {{}, {}}, {})) == "model time 0 ms | waiting 0 %");
}

TEST_CASE("sharing: parts are put together by name, and need every rank") {
  std::vector<RankReport> ranks(2);
  ranks[0].parts = {{"First", {10, {0, 0}, {1000, 1000, 0, 0}}, {20, {0, 0}, {2000, 2000, 0, 0}}}, {"Lone", {}, {}}};
  ranks[0].parts.push_back(ranks[0].parts.front());  // the same once more, as with --repeat
  ranks[1].parts = {{"Other", {}, {}}, {"First", {20, {0, 0}, {2000, 2000, 0, 0}}, {20, {0, 0}, {2000, 2000, 0, 0}}}};
  const std::vector<lab::log::Sharing> all = lab::log::describe_sharing(ranks);
  REQUIRE(all.size() == 1);
  CHECK(all[0].name == "First");
  CHECK(all[0].num_ranks == 2);
  CHECK(all[0].speed_up == doctest::Approx(1));
  CHECK(lab::log::describe_sharing(std::vector<RankReport>()).empty());
}

TEST_CASE("sharing: the main parts have at least a hundredth of the largest one's work") {
  std::vector<lab::log::Sharing> parts(4);
  for (int i = 0; i < 4; ++i) parts[static_cast<std::size_t>(i)].name = std::to_string(i);
  parts[0].flops = 99;
  parts[1].flops = 10'000;
  parts[2].flops = 100;
  const std::vector<lab::log::Sharing> main = lab::log::main_parts(parts);
  REQUIRE(main.size() == 2);
  CHECK(main[0].name == "1");
  CHECK(main[1].name == "2");
  CHECK(lab::log::main_parts(std::vector<lab::log::Sharing>(2)).size() == 2);  // no work at all
  CHECK(lab::log::main_parts({}).empty());
}
