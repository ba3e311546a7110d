#include "common/page/shown_costs.h"

#include "common/testing/plain_test.h"

namespace lab::page {
namespace {

TEST_CASE("what has a bound is shown next to it, and marked where it is more") {
  const std::vector<ShownCost> costs = shown_costs({21'800'000'000, 1'234'567, 80, 5}, {8'890'000'000, 1'234'567});
  REQUIRE(costs.size() == 2);
  CHECK(costs[0].what == "model time");
  CHECK(costs[0].used == "21.8 ms");
  CHECK(costs[0].most == "8.89 ms");
  CHECK(costs[0].exceeded);
  CHECK(costs[1].used == "1 234 567");
  CHECK_FALSE(costs[1].exceeded);
  CHECK(shown_costs(CaseFigures::zero(), {}).empty());
  CHECK(shown_costs({3'500'000, 0, 0, 0}, {2'500'000'000'000}).front().most == "2.5 s");
  CHECK(shown_costs({3'500'000, 0, 0, 0}, {2'500'000'000'000}).front().used == "3.5 us");
}

}  // namespace
}  // namespace lab::page
