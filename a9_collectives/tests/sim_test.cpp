#include "a9_collectives/commands/sim.h"

#include <cmath>

#include "common/comm/sim_world.h"
#include "common/testing/test.h"

// On the star the simulated time is the formula's, for every algorithm at every world size; so are the counts.
namespace lab::a9 {
namespace {

bool simulated() {
  if (!comm::SimWorld::available()) MESSAGE("skipped: this build has no SimGrid");
  return comm::SimWorld::available();
}

/// To four digits.
void check_formula(const Collective& collective, const Algorithm& algorithm, std::int64_t bytes, int size) {
  INFO(collective.name << " " << algorithm.name << " of " << bytes << " bytes on " << size << " ranks");
  const SimRow row = simulate(collective, algorithm, bytes, size, comm::SimNetwork{});
  CHECK(row.formula_seconds > 0);
  CHECK(std::abs(row.simulated_seconds - row.formula_seconds) < 1e-4 * row.formula_seconds);
  CHECK(row.messages > 0);
}

TEST_CASE("on the star, simulated time equals the formula to four digits at P = 2 ... 16") {
  if (!simulated()) return;
  for (const Collective& collective : catalogue()) {
    for (const Algorithm& algorithm : collective.algorithms) {
      for (int size = 2; size <= 16; ++size) check_formula(collective, algorithm, 1 << 20, size);
      check_formula(collective, algorithm, 16 << 10, 8);
      check_formula(collective, algorithm, 64 << 20, 6);
    }
  }
}

TEST_CASE("and on 1,024 ranks, where the messages are few enough for a test") {
  if (!simulated()) return;
  const std::vector<std::pair<const char*, const char*>> few = {
      {"broadcast", "flat"},         {"broadcast", "binomial"},           {"broadcast", "chain"},
      {"allreduce", "rabenseifner"}, {"allreduce", "recursive_doubling"}, {"allreduce", "gather_broadcast"},
      {"allgather", "bruck"},        {"allgather", "recursive_doubling"}, {"reduce_scatter", "recursive_halving"}};
  for (const auto& [collective, algorithm] : few) {
    check_formula(collective_named(collective), algorithm_named(collective_named(collective), algorithm), 1 << 20,
                  1024);
  }
}

TEST_CASE("a slower link and a higher latency cost what they must") {
  if (!simulated()) return;
  const Collective& allreduce = collective_named("allreduce");
  const Algorithm& ring = algorithm_named(allreduce, "ring");
  comm::SimNetwork slow;
  slow.latency_seconds = 50e-6;
  slow.bytes_per_second = 1e8;
  const SimRow row = simulate(allreduce, ring, 4 << 20, 8, slow);
  CHECK(std::abs(row.simulated_seconds - (14 * 50e-6 + 14.0 / 8 * (4 << 20) / 1e8)) < 1e-9);
  for (const std::string& platform : comm::platform_names()) {
    comm::SimNetwork network;
    network.platform = platform;
    // Where messages share links or cross several, they can only be later.
    const SimRow there = simulate(allreduce, ring, 1 << 20, 24, network);
    INFO(platform);
    CHECK(there.simulated_seconds >= there.formula_seconds * (1 - 1e-6));
  }
}

TEST_CASE("crossovers are where the lines of a sweep cross") {
  const auto row = [](const char* algorithm, std::int64_t bytes, double seconds) {
    SimRow made;
    made.collective = "allreduce";
    made.algorithm = algorithm;
    made.bytes = bytes;
    made.ranks = 8;
    made.simulated_seconds = seconds;
    return made;
  };
  const std::vector<SimRow> rows = {row("a", 1 << 10, 1), row("b", 1 << 10, 2), row("a", 1 << 12, 4),
                                    row("b", 1 << 12, 2), row("a", 1 << 14, 9), row("b", 1 << 14, 3)};
  const std::vector<Crossover> found = crossovers(rows);
  REQUIRE(found.size() == 2);
  CHECK(found[0].algorithm == "a");
  CHECK(found[0].bytes == 1 << 10);
  CHECK(found[1].algorithm == "b");
  CHECK(found[1].bytes == 1 << 11);
  CHECK(sweep_chart(rows, comm::SimNetwork{}).markers.size() == 1);
  CHECK(sweep_chart(rows, comm::SimNetwork{}).series.size() == 2);
}

}  // namespace
}  // namespace lab::a9
