#include "common/page/shown_costs.h"

#include <nlohmann/json.hpp>

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

TEST_CASE("figures as JSON and back, also where they may be any") {
  const CaseFigures some = {1, CaseFigures::kAny, 3, CaseFigures::kAny};
  const nlohmann::json written = figures_to_json(some);
  CHECK(written == nlohmann::json({{"model_time_ps", 1}, {"peak_tensor_bytes", 3}}));
  const CaseFigures read = figures_from_json(written);
  CHECK(read.model_time_ps == 1);
  CHECK(read.bytes_sent == CaseFigures::kAny);
  CHECK(read.peak_bytes == 3);
  CHECK_THROWS_AS(figures_from_json({{"flops", "many"}}), nlohmann::json::exception);
}

}  // namespace
}  // namespace lab::page
