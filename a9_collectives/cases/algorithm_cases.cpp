#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/cases/case_builders.h"
#include "a9_collectives/cases/cases.h"
#include "a9_collectives/chunks.h"

namespace lab::a9 {
namespace {

std::uint64_t down(int size) {
  return static_cast<std::uint64_t>(floor_lg(size));
}
std::uint64_t up(int size) {
  return static_cast<std::uint64_t>(ceil_lg(size));
}
/// Rounds of a doubling algorithm, with its 2 extra ones where the world size is not a power of two.
std::uint64_t doubling_rounds(int size) {
  return down(size) + (size == floor_power_of_two(size) ? 0 : 2);
}

using Count = std::uint64_t (*)(int size);

/// Another partner in each round, to send to and to receive from; ranks beyond a power of two have one, and those that
/// take on their data one more.
Limit doubles(Count rounds) {
  return [rounds](const CasePlace& place, CostBound& bound) {
    bound.max_rounds = rounds(place.size);
    bound.max_destinations = down(place.size) + (place.size == floor_power_of_two(place.size) ? 0 : 1);
    bound.partners = CostBound::Partners::kBothWays;
  };
}

/// Bruck's ranks send as far one way as they receive from the other way. On 3 ranks, both ways lead to the same two.
void one_way(const CasePlace& place, CostBound& bound) {
  bound.max_rounds = bound.max_destinations = up(place.size);
  if (place.size > 3) bound.partners = CostBound::Partners::kOneWay;
}

/// The root of a binomial tree has as many children as there are rounds.
void in_a_tree(int root, const CasePlace& place, CostBound& bound) {
  bound.max_rounds = bound.max_destinations = up(place.size);
  if (place.rank == root) bound.min_destinations = up(place.size);
}

/// One message per round, never two in flight; at least `rounds` rounds.
Limit one_by_one(Count rounds) {
  return [rounds](const CasePlace& place, CostBound& bound) {
    bound.min_rounds = bound.max_messages = rounds(place.size);
  };
}

/// A ring in `passes` passes, each of which takes a chunk over P - 1 links: at least that many rounds, and at most
/// P - 1 of the longest chunks sent per rank and pass. That holds whichever chunk a rank begins with and
/// whichever way it goes, for chunks as even as possible (the longer ones first or last), for chunks padded to one
/// length, and for floor(n / P) each with the rest in the last one: P - 1 chunks, the last among them, have
/// (P - 1) floor(n / P) + n mod P elements, which is no more than (P - 1) ceil(n / P). A chunk may travel in segments,
/// so messages are not counted: the bound on bytes rules out anything that sends more than its share. Two neighbours, for
/// a row of which one half goes each way.
Limit in_a_ring(std::uint64_t passes, std::int64_t num_elements, std::int64_t element_bytes) {
  return [=](const CasePlace& place, CostBound& bound) {
    const std::int64_t longest = (num_elements + place.size - 1) / place.size;
    bound.min_rounds = passes * static_cast<std::uint64_t>(place.size - 1);
    bound.max_bytes_sent = bound.min_rounds * static_cast<std::uint64_t>(longest * element_bytes);
    bound.max_destinations = 2;
  };
}

/// `phases` phases, the messages of each all at once.
Limit at_once(std::uint64_t phases) {
  return [phases](const CasePlace& place, CostBound& bound) {
    bound.max_rounds = phases;
    bound.min_messages = phases * static_cast<std::uint64_t>(place.size - 1);
  };
}

std::uint64_t one_pass(int size) {
  return static_cast<std::uint64_t>(size - 1);
}

std::int64_t product_of(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) product *= size;
  return product;
}

int middle_rank(int size) {
  return size / 2;
}

/// What the algorithms are given. Shapes as for exact().
struct AlgorithmData {
  std::vector<std::int64_t> row, rows, picture;       ///< `rows`: of each rank, one after the other
  std::vector<std::int64_t> long_row, segmented_row;  ///< float32; the second one's chunks are long
  at::ScalarType dtype = at::kFloat;
  std::int64_t scatter_dim = 0, gather_dim = 0;  ///< of the picture
  int (*src_rank)(int size) = nullptr;
  std::string suffix;  ///< of the cases' names
};

/// A ring in as many messages, which holds no whole chunk beside the tensor: a third segment at most. A tensor with
/// strides of its own is first made a row.
Case segmented_ring_case(const std::string& name, const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kElementBytes = sizeof(float);
  const std::int64_t elements = product_of(shape), bytes = elements * kElementBytes;
  const auto limit = [=](const CasePlace& place, CostBound& bound) {
    in_a_ring(2, elements, kElementBytes)(place, bound);
    bound.min_messages =
        static_cast<std::uint64_t>((place.size - 1) * (allreduce_ring_segments(bytes, place.size) + 1));
  };
  Case test_case = allreduce_case("a9.allreduce_ring_segmented", name, exact(shape, at::kFloat, 25), limit);
  test_case.memory = [=](const CasePlace& place) {
    const std::int64_t parts = place.size * allreduce_ring_segments(bytes, place.size);
    const std::int64_t segment = (elements / parts + 2) * kElementBytes;
    return ShareBound{bytes, (shape.size() > 1 ? 2 : 1) * bytes + 3 * segment};  // the call copies its result
  };
  return test_case;
}

std::vector<Case> cases_on(const AlgorithmData& data) {
  const Input row = exact(data.row, data.dtype, 20), rows = exact(data.rows, data.dtype, 21);
  const auto element_bytes = static_cast<std::int64_t>(c10::elementSize(data.dtype));
  const auto row_elements = product_of(data.row);
  const auto part_elements = -product_of(data.rows);
  const auto long_bytes = product_of(data.long_row) * 4;
  const auto named = [&](const char* name) { return name + data.suffix; };
  return {
      broadcast_case("a9.broadcast_binomial", named("BroadcastBinomial"), row, data.src_rank,
                     [src_rank = data.src_rank](const CasePlace& place, CostBound& bound) {
                       in_a_tree(src_rank(place.size), place, bound);
                     }),
      broadcast_case("a9.broadcast_chain", named("BroadcastChain"), exact(data.long_row, at::kFloat, 22), data.src_rank,
                     [=](const CasePlace& place, CostBound& bound) {
                       bound.max_bytes_sent = static_cast<std::uint64_t>(long_bytes);
                       bound.max_destinations = 1;
                       bound.max_rounds =
                           static_cast<std::uint64_t>(place.size - 2 + broadcast_chain_segments(long_bytes));
                     }),
      allreduce_case("a9.allreduce_recursive_doubling", named("AllReduceRecursiveDoubling"), row,
                     doubles(doubling_rounds)),
      allreduce_case("a9.allreduce_ring", named("AllReduceRing"), row, in_a_ring(2, row_elements, element_bytes)),
      segmented_ring_case(named("AllReduceRingSegmented"), data.segmented_row),
      allreduce_case("a9.allreduce_rabenseifner", named("AllReduceRabenseifner"), row,
                     [=](const CasePlace& place, CostBound& bound) {
                       doubles(doubling_rounds)(place, bound);
                       bound.max_rounds += down(place.size);
                       const int power = floor_power_of_two(place.size);
                       // 2 (p-1)/p n, the longest chunks; n more for a rank that also has another's data.
                       std::int64_t most = 2 * (power - 1) * ((row_elements + power - 1) / power);
                       if (place.size != power) most += row_elements;
                       bound.max_bytes_sent = static_cast<std::uint64_t>(most * element_bytes);
                     }),
      allreduce_case("a9.allreduce_direct", named("AllReduceDirect"), row, at_once(2)),
      allgather_case("a9.allgather_ring", named("AllGatherRing"), row,
                     [=](const CasePlace& place, CostBound& bound) {
                       in_a_ring(1, row_elements * place.size, element_bytes)(place, bound);
                     }),
      allgather_case("a9.allgather_recursive_doubling", named("AllGatherRecursiveDoubling"), row,
                     doubles(doubling_rounds)),
      allgather_case("a9.allgather_bruck", named("AllGatherBruck"), row, one_way),
      allgather_case("a9.allgather_direct", named("AllGatherDirect"), row, at_once(1)),
      reduce_scatter_case("a9.reduce_scatter_ring", named("ReduceScatterRing"), rows,
                          [=](const CasePlace& place, CostBound& bound) {
                            in_a_ring(1, part_elements * place.size, element_bytes)(place, bound);
                          }),
      reduce_scatter_case("a9.reduce_scatter_recursive_halving", named("ReduceScatterRecursiveHalving"), rows,
                          doubles(doubling_rounds)),
      all_to_all_case("a9.all_to_all_pairwise", named("AllToAllPairwise"), exact(data.picture, data.dtype, 23),
                      data.scatter_dim, data.gather_dim, one_by_one(one_pass)),
      all_to_all_case("a9.all_to_all_bruck", named("AllToAllBruck"), exact(data.picture, data.dtype, 24),
                      data.scatter_dim, data.gather_dim, one_way),
  };
}

}  // namespace

std::vector<Case> algorithm_cases() {
  // A row of 4004 bytes; few world sizes divide 1001.
  return cases_on(
      {{1001}, {-101}, {-2, 3, 101}, {kLongElements}, {2 * kLongElements}, at::kFloat, 0, 2, last_rank, ""});
}

std::vector<Case> subgroup_cases() {
  const auto cases_with = [](const AlgorithmData& data) {
    const Input row = exact(data.row, data.dtype, 20), rows = exact(data.rows, data.dtype, 21),
                picture = exact(data.picture, data.dtype, 22);
    std::vector<Case> cases = {
        broadcast_case("a9.broadcast", "Broadcast", row, data.src_rank),
        allreduce_case("a9.allreduce", "AllReduce", row), allgather_case("a9.allgather", "AllGather", row),
        reduce_scatter_case("a9.reduce_scatter", "ReduceScatter", rows),
        all_to_all_case("a9.all_to_all", "AllToAll", picture, data.scatter_dim, data.gather_dim)};
    for (const Case& test_case : cases_on(data)) cases.push_back(test_case);
    return cases;
  };
  const std::vector<Case> cases = cases_with({{17}, {-3, 2}, {3, -2, 5}, {23}, {29}, at::kLong, 1, 0, last_rank, ""});
  const std::vector<Case> of_group = cases_with({{5}, {-2, 3}, {2, -1, 3}, {7}, {7}, at::kLong, 1, 0, last_rank, ""});
  std::vector<Case> after;
  for (std::size_t i = 0; i < cases.size(); ++i) after.push_back(after_subgroup(cases[i], of_group[i]));
  return after;
}

std::vector<Case> strided_algorithm_cases() {
  std::vector<Case> cases =
      cases_on({{7, 13}, {-5, 3}, {3, 2, -7}, {2, 1 << 17}, {2, 1 << 18}, at::kLong, 2, 1, middle_rank, "Strided"});
  for (Case& test_case : cases) test_case = transposed(test_case);
  return cases;
}

}  // namespace lab::a9
