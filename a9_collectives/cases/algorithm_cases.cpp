#include <cmath>

#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/calls/catalogue.h"
#include "a9_collectives/cases/case_builders.h"
#include "a9_collectives/cases/cases.h"
#include "a9_collectives/chunks.h"
#include "common/comm/messages/model_time.h"

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

/// No more bytes than the Cost line in the algorithm's header has on the longest chain of waits: for parts that are
/// equal. `num_bytes`: its n.
Limit costs(const char* collective, const char* algorithm,
            const std::function<std::uint64_t(const CasePlace&)>& num_bytes, const Limit& limit) {
  return [=](const CasePlace& place, CostBound& bound) {
    limit(place, bound);
    const Algorithm& named = algorithm_named(collective_named(collective), algorithm);
    const Cost cost = named.cost(static_cast<double>(num_bytes(place)), place.size);
    bound.max_bytes_sent = static_cast<std::uint64_t>(std::llround(cost.path_bytes));
  };
}

/// A rank waits up to three times as long as its messages travel: where ranks with even numbers send first and the
/// others receive first, a step takes as long as two messages, or three if the number of ranks is odd. Not as long as
/// one message after the other takes all the way round.
Case all_links_at_once(Case test_case) {
  test_case.time = [bounds = test_case.bounds](int size, std::uint64_t seed) {
    const CostBound bound = bounds({0, size, seed}).front();
    const comm::ModelRates rates;
    TimeBound time{0, TimeBound::kAny};
    time.max_waiting_ps =
        3 * (static_cast<std::int64_t>(bound.min_rounds) * (rates.latency_ps + 2 * rates.overhead_ps) +
             static_cast<std::int64_t>(bound.max_bytes_sent) * rates.ps_per_byte);
    return time;
  };
  return test_case;
}

/// The pieces of a chain take the time of the Cost line in its header, or a quarter more: where each rank passes one on
/// before it takes the next one, they need up to twice as long.
Case all_pieces_under_way(Case test_case, std::int64_t num_bytes) {
  test_case.time = [num_bytes](int size, std::uint64_t) {
    const comm::ModelRates rates;
    const Cost cost =
        algorithm_named(collective_named("broadcast"), "chain").cost(static_cast<double>(num_bytes), size);
    const auto needed =
        static_cast<std::int64_t>(cost.steps * static_cast<double>(rates.latency_ps + 2 * rates.overhead_ps) +
                                  cost.path_bytes * static_cast<double>(rates.ps_per_byte));
    return TimeBound{needed, 5 * needed / 4};
  };
  return test_case;
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

std::int64_t multiply_all(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) product *= size;
  return product;
}

int middle_rank(int size) {
  return size / 2;
}

/// What the algorithms are given. Shapes as for exact().
struct AlgorithmData {
  std::vector<std::int64_t> row, part, rows, picture;  ///< `rows`: of each rank, one after the other
  std::vector<std::int64_t> long_row, segmented_row;   ///< the second one's chunks are long
  at::ScalarType dtype = at::kFloat;
  std::int64_t scatter_dim = 0, gather_dim = 0;  ///< of the picture
  int (*src_rank)(int size) = nullptr;
  std::string suffix;         ///< of the cases' names
  bool rounded_sums = false;  ///< All-reduces, but for the segmented one, sum random float32 numbers.
  at::ScalarType long_dtype = at::kFloat;
};

/// A ring in as many messages, which holds no whole chunk beside the tensor: a third segment at most. A tensor with
/// strides of its own is first made a row.
Case segmented_ring_case(const std::string& name, const std::vector<std::int64_t>& shape, at::ScalarType dtype) {
  const auto element_bytes = static_cast<std::int64_t>(c10::elementSize(dtype));
  const std::int64_t elements = multiply_all(shape), bytes = elements * element_bytes;
  const auto limit = [=](const CasePlace& place, CostBound& bound) {
    in_a_ring(2, elements, element_bytes)(place, bound);
    bound.min_messages =
        static_cast<std::uint64_t>((place.size - 1) * (allreduce_ring_segments(bytes, place.size) + 1));
  };
  Case test_case =
      all_links_at_once(allreduce_case("a9.allreduce_ring_segmented", name, exact(shape, dtype, 25), limit));
  test_case.memory = [=](const CasePlace& place) {
    const std::int64_t parts = place.size * allreduce_ring_segments(bytes, place.size);
    const std::int64_t segment = (elements / parts + 2) * element_bytes;
    return ShareBound{bytes, (shape.size() > 1 ? 2 : 1) * bytes + 3 * segment};  // the call copies its result
  };
  return test_case;
}

std::vector<Case> cases_on(const AlgorithmData& data) {
  const auto numbers = [&](const std::vector<std::int64_t>& shape, std::uint64_t offset) {
    return data.dtype == at::kLong ? beyond_double(shape, offset) : exact(shape, data.dtype, offset);
  };
  const Input row = numbers(data.row, 20), rows = numbers(data.rows, 21), part = numbers(data.part, 26);
  const Input picture = numbers(data.picture, 23), other_picture = numbers(data.picture, 24);
  const Input summed = data.rounded_sums ? rounded(data.row, 27) : row;
  const Input long_row =
      data.long_dtype == data.dtype ? numbers(data.long_row, 22) : exact(data.long_row, data.long_dtype, 22);
  const auto element_bytes = static_cast<std::int64_t>(c10::elementSize(data.dtype));
  const auto summed_bytes = static_cast<std::int64_t>(summed.element_bytes);
  const auto row_elements = multiply_all(data.row), part_elements = multiply_all(data.part);
  const auto rows_elements = -multiply_all(data.rows);
  const auto long_bytes = multiply_all(data.long_row) * static_cast<std::int64_t>(c10::elementSize(data.long_dtype));
  const auto named = [&](const char* name) { return name + data.suffix; };
  const auto all_parts = [part](const CasePlace& place) {
    return static_cast<std::uint64_t>(place.size) * part.bytes(place);
  };
  const auto sum_case = [&](const char* task, const char* name, const Limit& limit) {
    const Case test_case = allreduce_case(task, named(name), summed, limit);
    return data.rounded_sums ? with_same_bits(test_case) : test_case;
  };
  return {
      broadcast_case("a9.broadcast_binomial", named("BroadcastBinomial"), row, data.src_rank,
                     costs("broadcast", "binomial", row.bytes,
                           [src_rank = data.src_rank](const CasePlace& place, CostBound& bound) {
                             in_a_tree(src_rank(place.size), place, bound);
                           })),
      all_pieces_under_way(broadcast_case("a9.broadcast_chain", named("BroadcastChain"), long_row, data.src_rank,
                                          [=](const CasePlace& place, CostBound& bound) {
                                            bound.max_bytes_sent = static_cast<std::uint64_t>(long_bytes);
                                            bound.max_destinations = 1;
                                            bound.max_rounds = static_cast<std::uint64_t>(
                                                place.size - 2 + broadcast_chain_segments(long_bytes));
                                          }),
                           long_bytes),
      sum_case("a9.allreduce_recursive_doubling", "AllReduceRecursiveDoubling",
               costs("allreduce", "recursive_doubling", summed.bytes, doubles(doubling_rounds))),
      all_links_at_once(sum_case("a9.allreduce_ring", "AllReduceRing", in_a_ring(2, row_elements, summed_bytes))),
      segmented_ring_case(named("AllReduceRingSegmented"), data.segmented_row, data.long_dtype),
      sum_case("a9.allreduce_rabenseifner", "AllReduceRabenseifner",
               [=](const CasePlace& place, CostBound& bound) {
                 doubles(doubling_rounds)(place, bound);
                 bound.max_rounds += down(place.size);
                 const int power = floor_power_of_two(place.size);
                 // 2 (p-1)/p n, the longest chunks; n more for a rank that also has another's data.
                 std::int64_t most = 2 * (power - 1) * ((row_elements + power - 1) / power);
                 if (place.size != power) most += row_elements;
                 bound.max_bytes_sent = static_cast<std::uint64_t>(most * summed_bytes);
               }),
      sum_case("a9.allreduce_direct", "AllReduceDirect",
               [=](const CasePlace& place, CostBound& bound) {
                 at_once(2)(place, bound);
                 // P - 1 chunks of others, P - 1 times one's own; perhaps the last chunk has all of the rest.
                 const std::int64_t longest = row_elements / place.size + row_elements % place.size;
                 bound.max_bytes_sent = static_cast<std::uint64_t>(2 * (place.size - 1) * longest * summed_bytes);
               }),
      all_links_at_once(allgather_case("a9.allgather_ring", named("AllGatherRing"), part,
                                       [=](const CasePlace& place, CostBound& bound) {
                                         in_a_ring(1, part_elements * place.size, element_bytes)(place, bound);
                                       })),
      allgather_case("a9.allgather_recursive_doubling", named("AllGatherRecursiveDoubling"), part,
                     costs("allgather", "recursive_doubling", all_parts, doubles(doubling_rounds))),
      allgather_case("a9.allgather_bruck", named("AllGatherBruck"), part,
                     costs("allgather", "bruck", all_parts, one_way)),
      allgather_case("a9.allgather_direct", named("AllGatherDirect"), part,
                     costs("allgather", "direct", all_parts, at_once(1))),
      all_links_at_once(reduce_scatter_case("a9.reduce_scatter_ring", named("ReduceScatterRing"), rows,
                                            [=](const CasePlace& place, CostBound& bound) {
                                              in_a_ring(1, rows_elements * place.size, element_bytes)(place, bound);
                                            })),
      reduce_scatter_case("a9.reduce_scatter_recursive_halving", named("ReduceScatterRecursiveHalving"), rows,
                          costs("reduce_scatter", "recursive_halving", rows.bytes, doubles(doubling_rounds))),
      all_links_at_once(all_to_all_case("a9.all_to_all_pairwise", named("AllToAllPairwise"), picture, data.scatter_dim,
                                        data.gather_dim,
                                        costs("all_to_all", "pairwise", picture.bytes, one_by_one(one_pass)))),
      all_to_all_case("a9.all_to_all_bruck", named("AllToAllBruck"), other_picture, data.scatter_dim, data.gather_dim,
                      costs("all_to_all", "bruck", other_picture.bytes, one_way)),
  };
}

}  // namespace

std::vector<Case> algorithm_cases() {
  // A row of 4004 bytes; few world sizes divide 1001.
  return cases_on(
      {{1001}, {1001}, {-101}, {-2, 3, 101}, {kLongElements}, {2 * kLongElements}, at::kFloat, 0, 2, last_rank, ""});
}

std::vector<Case> subgroup_cases() {
  const auto cases_with = [](const AlgorithmData& data) {
    const Input row = exact(data.row, data.dtype, 20), rows = exact(data.rows, data.dtype, 21),
                picture = exact(data.picture, data.dtype, 22), part = exact(data.part, data.dtype, 26);
    std::vector<Case> cases = {
        broadcast_case("a9.broadcast", "Broadcast", row, data.src_rank),
        allreduce_case("a9.allreduce", "AllReduce", row), allgather_case("a9.allgather", "AllGather", part),
        reduce_scatter_case("a9.reduce_scatter", "ReduceScatter", rows),
        all_to_all_case("a9.all_to_all", "AllToAll", picture, data.scatter_dim, data.gather_dim)};
    for (const Case& test_case : cases_on(data)) cases.push_back(test_case);
    return cases;
  };
  // All ranks: fewer elements than there are ranks, where these are 4 or more. The group: scalars, and tensors without
  // elements.
  const std::vector<Case> cases =
      cases_with({{3}, {17}, {-3, 2}, {3, -2, 5}, {23}, {3}, at::kLong, 1, 0, last_rank, "", false, at::kLong});
  const std::vector<Case> of_group =
      cases_with({{}, {0, 3}, {-1, 0}, {2, -1, 0}, {0, 3}, {}, at::kHalf, 1, 0, last_rank, "", false, at::kHalf});
  std::vector<Case> after;
  for (std::size_t i = 0; i < cases.size(); ++i) after.push_back(after_subgroup(cases[i], of_group[i]));
  return after;
}

std::vector<Case> strided_algorithm_cases() {
  const std::vector<std::int64_t> row = {7, 13};
  std::vector<Case> cases = cases_on(
      {row, row, {-5, 3}, {3, 2, -7}, {2, 1 << 17}, {2, 1 << 18}, at::kLong, 2, 1, middle_rank, "Strided", true});
  for (Case& test_case : cases) test_case = transposed(test_case);
  return cases;
}

}  // namespace lab::a9
