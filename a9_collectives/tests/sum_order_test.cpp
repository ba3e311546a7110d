#include "a9_collectives/allreduce.h"
#include "a9_collectives/chunks.h"
#include "a9_collectives/reduce_scatter.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// The order in which each algorithm sums, as its header says: bit by bit, on data whose sums depend on the order.
namespace lab::a9 {
namespace {

constexpr std::int64_t kChunkLength = 40;
constexpr std::uint64_t kSeed = 3;

at::Tensor make_input(int rank, int size) {
  return seeded_randn({size * kChunkLength}, kSeed + static_cast<std::uint64_t>(rank));
}

std::vector<at::Tensor> chunk_of_all(int chunk, int size) {
  std::vector<at::Tensor> parts;
  for (int rank = 0; rank < size; ++rank) parts.push_back(Chunks(make_input(rank, size), size).chunk(chunk));
  return parts;
}

/// ((x_first + x_(first+step)) + x_(first+2 step)) + ... round the ranks.
at::Tensor round_the_ranks(const std::vector<at::Tensor>& parts, int first, int step) {
  const int size = static_cast<int>(parts.size());
  const auto part = [&](int i) { return parts[static_cast<std::size_t>(((first + i * step) % size + size) % size)]; };
  at::Tensor sum = part(0).clone();
  for (int i = 1; i < size; ++i) sum.add_(part(i));
  return sum;
}

/// Pairs first if the world size is not a power of two; then a tree whose leaves are next to each other, or far apart.
at::Tensor tree(const std::vector<at::Tensor>& parts, bool neighbours_first) {
  const std::size_t power = static_cast<std::size_t>(floor_power_of_two(static_cast<int>(parts.size())));
  const std::size_t num_aside = parts.size() - power;
  std::vector<at::Tensor> level;
  for (std::size_t i = 0; i < power; ++i)
    level.push_back(i < num_aside ? parts[2 * i] + parts[2 * i + 1] : parts[i + num_aside]);
  while (level.size() > 1) {
    const std::size_t half = level.size() / 2;
    for (std::size_t i = 0; i < half; ++i)
      level[i] = neighbours_first ? level[2 * i] + level[2 * i + 1] : level[i] + level[i + half];
    level.resize(half);
  }
  return level[0];
}

using Function = at::Tensor (*)(at::Tensor, PointToPoint&);
/// The sum of the parts of chunk number `chunk`.
using Order = at::Tensor (*)(const std::vector<at::Tensor>& parts, int chunk);

at::Tensor rank_order(const std::vector<at::Tensor>& parts, int) {
  return round_the_ranks(parts, 0, 1);
}
at::Tensor from_own_upwards(const std::vector<at::Tensor>& parts, int chunk) {
  return round_the_ranks(parts, chunk, 1);
}
at::Tensor from_own_downwards(const std::vector<at::Tensor>& parts, int chunk) {
  return round_the_ranks(parts, chunk, -1);
}
at::Tensor own_last(const std::vector<at::Tensor>& parts, int chunk) {
  return round_the_ranks(parts, chunk + 1, 1);
}
at::Tensor near_tree(const std::vector<at::Tensor>& parts, int) {
  return tree(parts, true);
}
at::Tensor far_tree(const std::vector<at::Tensor>& parts, int) {
  return tree(parts, false);
}

/// Whether every rank has exactly these sums.
bool sums_are(Function function, Order order, int size) {
  const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
    return TensorMap{{"sum", function(make_input(comm.rank(), size), comm.point_to_point())}};
  });
  REQUIRE_FALSE(outcome.failure);
  std::vector<at::Tensor> chunks;
  for (int chunk = 0; chunk < size; ++chunk) chunks.push_back(order(chunk_of_all(chunk, size), chunk));
  for (int rank = 0; rank < size; ++rank) {
    const at::Tensor& sum = outcome.ranks[static_cast<std::size_t>(rank)].tensors.at("sum");
    const bool is_whole = sum.numel() == size * kChunkLength;
    if (!at::equal(sum, is_whole ? at::cat(chunks) : chunks[static_cast<std::size_t>(rank)])) return false;
  }
  return true;
}

TEST_CASE("order of sums: as the headers say it, and no other") {
  const struct {
    const char* name;
    Function function;
    Order order;
  } promises[] = {{"gather_broadcast", allreduce_gather_broadcast, rank_order},
                  {"allreduce ring", allreduce_ring, from_own_upwards},
                  {"allreduce segmented ring", allreduce_ring_segmented, from_own_upwards},
                  {"allreduce direct", allreduce_direct, rank_order},
                  {"reduce_scatter pairwise", reduce_scatter_pairwise, from_own_downwards},
                  {"reduce_scatter ring", reduce_scatter_ring, own_last}};
  for (const int size : {4, 5, 8}) {
    for (const auto& promise : promises) {
      for (const Order order : {rank_order, from_own_upwards, from_own_downwards, own_last, near_tree, far_tree}) {
        CAPTURE(promise.name);
        CAPTURE(size);
        CHECK(sums_are(promise.function, order, size) == (order == promise.order));
      }
    }
  }
}

TEST_CASE("order of sums: a balanced tree over the ranks, whichever distance comes first") {
  for (const int size : {4, 5, 8}) {
    CAPTURE(size);
    for (const Function function :
         {allreduce_recursive_doubling, allreduce_rabenseifner, reduce_scatter_recursive_halving})
      CHECK((sums_are(function, near_tree, size) || sums_are(function, far_tree, size)));
  }
}

}  // namespace
}  // namespace lab::a9
