#include "a9_collectives/two_level.h"

#include "a9_collectives/allreduce.h"
#include "a9_collectives/calls/catalogue.h"
#include "a9_collectives/commands/sim.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/comm/sim_world.h"
#include "common/tensor/exact_data.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// All-reduce over hosts: the same bits as without them, and what crosses between hosts.
namespace lab::a9 {
namespace {

constexpr std::uint64_t kSeed = 8;
const std::vector<std::vector<std::int64_t>> kShapes = {{}, {1}, {7}, {3, 5}, {1 << 16}, {(1 << 16) + 1}};

at::Tensor sum_over(int size, const std::vector<std::int64_t>& shape) {
  at::Tensor sum = at::zeros(shape);
  for (int rank = 0; rank < size; ++rank) sum.add_(exact_values_for_rank(shape, at::kFloat, kSeed, rank));
  return sum;
}

/// On processes, each two of which count as one host.
launch::WorldOutcome on_hosts_of_two(int size, const launch::RankBody& body) {
  launch::WorldSpec spec = choose_world<TwoPerHost>(size);
  spec.traced = true;
  return launch::run_ranks(spec, body);
}

TEST_CASE("two levels give the same bits as one, whatever divides what") {
  for (const int size : {4, 6, 8}) {
    for (const auto& shape : kShapes) {
      CAPTURE(size);
      CAPTURE(shape);
      const auto outcome = on_hosts_of_two(size, [&](Communicator& comm, launch::RankOutcome& rank) {
        REQUIRE(has_two_levels(comm.point_to_point()));
        at::Tensor tensor = exact_values_for_rank(shape, at::kFloat, kSeed, comm.rank());
        if (tensor.dim() == 2) tensor = tensor.t().contiguous().t();
        const at::Tensor result = allreduce_two_level(tensor, comm.point_to_point());
        REQUIRE(result.is_same(tensor));
        rank.tensors["sum"] = result.clone();
      });
      REQUIRE_MESSAGE(!outcome.failure, (outcome.failure ? outcome.failure->message : ""));
      for (const launch::RankOutcome& rank : outcome.ranks)
        CHECK(at::equal(rank.tensors.at("sum"), sum_over(size, shape)));
    }
  }
}

TEST_CASE("my_allreduce takes two levels where they pay, and a rank sends to one rank of each other host") {
  for (const std::int64_t bytes : {std::int64_t{16} << 10, std::int64_t{1} << 20}) {
    const auto outcome = on_hosts_of_two(8, [&](Communicator& comm, launch::RankOutcome& rank) {
      rank.tensors["sum"] =
          my_allreduce(exact_values_for_rank({bytes / 4}, at::kFloat, kSeed, comm.rank()), comm.point_to_point());
    });
    REQUIRE_MESSAGE(!outcome.failure, (outcome.failure ? outcome.failure->message : ""));
    for (std::size_t rank = 0; rank < 8; ++rank) {
      CHECK(at::equal(outcome.ranks[rank].tensors.at("sum"), sum_over(8, {bytes / 4})));
      const bool is_long = bytes == std::int64_t{1} << 20;
      for (const comm::TraceEvent& event : outcome.ranks[rank].trace) {
        CHECK((event.bytes < bytes) == is_long);  // one level doubles: it sends the whole tensor in each step
        const bool is_inside = event.peer / 2 == static_cast<int>(rank) / 2;
        if (is_long) CHECK((is_inside || event.peer % 2 == static_cast<int>(rank) % 2));
      }
    }
  }
}

TEST_CASE("where ranks are on one host, alone on each, or unevenly spread, there are no two levels") {
  const auto check = [](const launch::WorldSpec& spec) {
    const auto outcome = launch::run_ranks(spec, [](Communicator& comm) {
      CHECK_FALSE(has_two_levels(comm.point_to_point()));
      allreduce_two_level(at::ones({4}), comm.point_to_point());
      return TensorMap{};
    });
    REQUIRE(outcome.failure);
    CHECK(contains(outcome.failure->message, "expected several hosts with equally many ranks on each"));
  };
  check(threads(4));
  check(choose_world<TwoPerHost>(2));
  check(choose_world<TwoPerHost>(5));
  launch::WorldSpec alone = choose_world<TwoPerHost>(3);
  alone.ranks_per_host = 1;
  check(alone);
}

TEST_CASE("simulated: on 8 hosts of 8, two levels are quicker than every algorithm of one from 64 KiB on") {
  if (!comm::SimWorld::available()) {
    MESSAGE("skipped: this build has no SimGrid");
    return;
  }
  comm::SimNetwork network;
  network.ranks_per_host = 8;
  const Collective& allreduce = collective_named("allreduce");
  for (const std::int64_t bytes : {std::int64_t{64} << 10, std::int64_t{1} << 20, std::int64_t{16} << 20}) {
    CAPTURE(bytes);
    const SimRow two = simulate(allreduce, {"two_level", allreduce_two_level, {}}, bytes, 64, network);
    for (const Algorithm& algorithm : allreduce.algorithms) {
      CAPTURE(algorithm.name);
      if (algorithm.name == "direct") continue;  // 4,032 messages at once
      CHECK(two.simulated_seconds < simulate(allreduce, algorithm, bytes, 64, network).simulated_seconds);
    }
  }
}

}  // namespace
}  // namespace lab::a9
