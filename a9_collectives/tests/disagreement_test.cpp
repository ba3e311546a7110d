#include "a9_collectives/calls/catalogue.h"
#include "a9_collectives/tests/bad_input.h"
#include "common/testing/test.h"

// Ranks that disagree on an argument although every single message may fit: there must still be an error on every
// rank.
namespace lab::a9 {
namespace {

TEST_CASE("a broadcast between ranks that chose other algorithms is an error on every rank") {
  for (const int size : kBadInputSizes) {
    for (int odd_rank = 0; odd_rank < size; ++odd_rank) {
      CAPTURE(size);
      CAPTURE(odd_rank);
      CHECK(error_everywhere(endings(
          size, [&](int rank) { return at::ones({rank == odd_rank ? 1 << 18 : 3}); },
          [&](int rank) -> Call {
            const auto broadcast = rank == odd_rank ? broadcast_chain : broadcast_binomial;
            return [broadcast](at::Tensor x, PointToPoint& p2p) { return broadcast(x, 0, p2p); };
          })));
    }
  }
}

/// Whether every rank gets an error if the last has the same number of elements in another shape: at every world size,
/// for few elements and for many.
bool refuses_other_shape(const Call& call) {
  for (const int size : kBadInputSizes) {
    for (const std::int64_t length : {1, 20000}) {
      const auto input = [&](int rank) {
        return rank == size - 1 ? at::ones({3 * size, 2 * length}) : at::ones({2 * size, 3 * length});
      };
      if (!error_everywhere(endings(size, input, [&](int) { return call; }))) return false;
    }
  }
  return true;
}

void check_other_shape(const std::string& collective, const std::vector<std::string>& algorithms) {
  for (const std::string& name : algorithms) {
    INFO(collective << " " << name);
    CHECK(refuses_other_shape(algorithm_named(collective_named(collective), name).run));
  }
}

TEST_CASE("as many elements in another shape are an error: where messages keep the shape") {
  check_other_shape("broadcast", {"flat", "binomial"});
  check_other_shape("allreduce", {"gather_broadcast"});
  check_other_shape("reduce_scatter", {"pairwise", "ring"});
  check_other_shape("all_to_all", {"direct", "pairwise", "bruck"});
}

TEST_CASE("as many elements in another shape are an error: where parts keep it") {
  check_other_shape("allgather", {"through_root", "ring", "recursive_doubling", "bruck", "direct"});
  check_other_shape("reduce_scatter", {"recursive_halving"});
  check_other_shape("allreduce", {"recursive_doubling"});
}

TEST_CASE("as many elements in another shape are an error: the five functions, whatever they choose") {
  for (const Collective& collective : catalogue()) {
    INFO(collective.name);
    CHECK(refuses_other_shape(collective.run));
  }
}

TEST_CASE("another scatter_dim on one rank is an error on every rank") {
  for (const int size : kBadInputSizes) {
    const auto all = endings(
        size,
        [&](int) {
          return at::ones({size, size, size});
        },
        [&](int rank) { return all_to_all_along(rank == 1 ? 1 : 0, 2); });
    CHECK(error_everywhere(all));
    for (const RankEnding& ending : all) CHECK(ending.message.find("operation mismatch: rank ") != std::string::npos);
  }
}

TEST_CASE("another gather_dim on one rank is an error on every rank") {
  for (const int size : kBadInputSizes) {
    CHECK(error_everywhere(endings(
        size,
        [&](int) {
          return at::ones({size, size, size});
        },
        [&](int rank) { return all_to_all_along(0, rank == 1 ? 1 : 2); })));
  }
}

using Broadcast = at::Tensor (*)(at::Tensor, int, PointToPoint&);

/// Whether every rank gets an error if one takes another rank for the source, whichever these are.
bool refuses_other_source(Broadcast broadcast, int size) {
  for (int odd_rank = 0; odd_rank < size; ++odd_rank) {
    for (int odd_source = 1; odd_source < size; ++odd_source) {
      const auto call = [&](int rank) -> Call {
        const int src_rank = rank == odd_rank ? odd_source : 0;
        return [=](at::Tensor x, PointToPoint& p2p) { return broadcast(x, src_rank, p2p); };
      };
      if (!error_everywhere(endings(
              size, [](int) { return at::ones({7}); }, call)))
        return false;
    }
  }
  return true;
}

TEST_CASE("another src_rank on one rank is an error on every rank: few ranks, or a flat broadcast") {
  for (const int size : {2, 3}) {
    for (const Broadcast broadcast : {my_broadcast, broadcast_binomial, broadcast_chain})
      CHECK(refuses_other_source(broadcast, size));
  }
  for (const int size : kBadInputSizes) CHECK(refuses_other_source(broadcast_flat, size));
}
TEST_CASE("another src_rank on one rank is an error on every rank: more ranks") {
  for (const int size : {4, 5}) CHECK(refuses_other_source(my_broadcast, size));
}

}  // namespace
}  // namespace lab::a9
