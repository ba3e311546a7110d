#include "a9_collectives/collective_cases.h"

#include "a9_collectives/broadcast.h"
#include "a9_collectives/chunks.h"
#include "common/tensor/exact_data.h"

namespace lab::a9 {
namespace {

/// One rank's tensor: the same formula serves inputs and expected results.
struct Input {
  std::function<at::Tensor(const CasePlace&, int rank)> of;
  std::function<std::uint64_t(const CasePlace&)> bytes;  ///< of each rank's
};

/// Whole numbers whose sums are exact, other ones on each rank. A size below 0 stands for -size times the world size.
Input exact(const std::vector<std::int64_t>& shape, at::ScalarType dtype, std::uint64_t offset) {
  const auto sizes_of = [shape](const CasePlace& place) {
    std::vector<std::int64_t> sizes = shape;
    for (std::int64_t& size : sizes) size = size < 0 ? -size * place.size : size;
    return sizes;
  };
  return {[=](const CasePlace& place, int rank) {
            return exact_values_for_rank(sizes_of(place), dtype, place.seed + offset, rank);
          },
          [=](const CasePlace& place) {
            return static_cast<std::uint64_t>(c10::multiply_integers(sizes_of(place))) * c10::elementSize(dtype);
          }};
}

/// Whole numbers that no float64 holds: sums made in one lose their last digits.
Input beyond_double(const std::vector<std::int64_t>& shape, std::uint64_t offset) {
  Input input = exact(shape, at::kLong, offset);
  const auto small = input.of;
  input.of = [small](const CasePlace& place, int rank) { return small(place, rank) + (std::int64_t{1} << 57) + rank; };
  return input;
}

Input handout(const std::function<at::Tensor(int rank, int size)>& values) {
  return {[values](const CasePlace& place, int rank) { return values(rank, place.size); },
          [values](const CasePlace& place) { return static_cast<std::uint64_t>(values(0, place.size).nbytes()); }};
}

at::Tensor sum_of_all(const Input& input, const CasePlace& place) {
  at::Tensor sum = input.of(place, 0).clone();
  for (int rank = 1; rank < place.size; ++rank) sum.add_(input.of(place, rank));
  return sum;
}

at::Tensor own_chunk(const at::Tensor& tensor, std::int64_t dim, const CasePlace& place) {
  const std::int64_t length = tensor.size(dim) / place.size;
  return tensor.narrow(dim, place.rank * length, length);
}

std::uint64_t floor_lg(int size) {
  return size < 2 ? 0 : 1 + floor_lg(size / 2);
}
std::uint64_t ceil_lg(int size) {
  return size < 2 ? 0 : 1 + floor_lg(size - 1);
}
/// Rounds of an algorithm that doubles, with its detour where the world size is no power of two.
std::uint64_t doubling_rounds(int size) {
  return floor_lg(size) + (size == floor_power_of_two(size) ? 0 : 2);
}

Case tensor_case(const std::string& task, const std::string& name, const Input& input) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  result.tolerance = {0, 0};
  result.inputs = [input](const CasePlace& place) {
    CaseInputs inputs;
    inputs.tensors = {{"input.x", input.of(place, place.rank)}};
    return inputs;
  };
  return result;
}

/// Gives the case's inputs a further number.
Case with(Case the_case, const std::string& name, const std::function<double(const CasePlace&)>& value) {
  const auto before = the_case.inputs;
  the_case.inputs = [before, name, value](const CasePlace& place) {
    CaseInputs inputs = before(place);
    inputs.numbers[name] = value(place);
    return inputs;
  };
  return the_case;
}

Case transposed(const Case& the_case) {
  return with(the_case, "transposed", [](const CasePlace&) { return 1.0; });
}

/// The task's messages must have brought at least so many bytes; and `limit` may say more.
Case received(Case the_case, const std::function<std::uint64_t(const CasePlace&)>& least_bytes,
              const std::function<void(const CasePlace&, CostBound&)>& limit) {
  const std::string task = the_case.task;
  the_case.bounds = [task, least_bytes, limit](const CasePlace& place) {
    CostBound bound;
    bound.operation = task;
    bound.min_bytes_received = place.size == 1 ? 0 : least_bytes(place);
    if (limit) limit(place, bound);
    return std::vector<CostBound>{bound};
  };
  return the_case;
}

using Limit = std::function<void(const CasePlace&, CostBound&)>;

Case broadcast(const std::string& task, const std::string& name, const Input& input,
               const std::function<int(int size)>& src_rank_of, const Limit& limit = {}) {
  Case result = with(tensor_case(task, name, input), "src_rank",
                     [src_rank_of](const CasePlace& place) { return static_cast<double>(src_rank_of(place.size)); });
  // What a rank other than the source held before must not show through.
  const auto before = result.inputs;
  result.inputs = [before, src_rank_of](const CasePlace& place) {
    CaseInputs inputs = before(place);
    if (place.rank != src_rank_of(place.size)) poison_(inputs.tensors.at("input.x"));
    return inputs;
  };
  result.expected = [input, src_rank_of](const CasePlace& place) {
    const at::Tensor sent = input.of(place, src_rank_of(place.size));
    return TensorMap{{"out", sent}, {"x", sent}};
  };
  return received(
      result,
      [input, src_rank_of](const CasePlace& place) {
        return place.rank == src_rank_of(place.size) ? 0 : input.bytes(place);
      },
      limit);
}

Case allreduce(const std::string& task, const std::string& name, const Input& input, const Limit& limit = {}) {
  Case result = tensor_case(task, name, input);
  result.expected = [input](const CasePlace& place) {
    const at::Tensor sum = sum_of_all(input, place);
    return TensorMap{{"out", sum}, {"x", sum}};
  };
  return received(
      result, [input](const CasePlace& place) { return input.bytes(place); }, limit);
}

Case allgather(const std::string& task, const std::string& name, const Input& input, const Limit& limit = {}) {
  Case result = tensor_case(task, name, input);
  result.expected = [input](const CasePlace& place) {
    std::vector<at::Tensor> parts;
    for (int rank = 0; rank < place.size; ++rank) parts.push_back(input.of(place, rank));
    return TensorMap{{"out", at::cat(parts, 0)}, {"x", input.of(place, place.rank)}};
  };
  return received(
      result,
      [input](const CasePlace& place) { return static_cast<std::uint64_t>(place.size - 1) * input.bytes(place); },
      limit);
}

Case reduce_scatter(const std::string& task, const std::string& name, const Input& input, const Limit& limit = {}) {
  Case result = tensor_case(task, name, input);
  result.expected = [input](const CasePlace& place) {
    return TensorMap{{"out", own_chunk(sum_of_all(input, place), 0, place)}, {"x", input.of(place, place.rank)}};
  };
  return received(
      result, [input](const CasePlace& place) { return input.bytes(place) / static_cast<std::uint64_t>(place.size); },
      limit);
}

Case all_to_all(const std::string& task, const std::string& name, const Input& input, std::int64_t scatter_dim,
                std::int64_t gather_dim, const Limit& limit = {}) {
  Case result = tensor_case(task, name, input);
  result = with(result, "scatter_dim", [scatter_dim](const CasePlace&) { return static_cast<double>(scatter_dim); });
  result = with(result, "gather_dim", [gather_dim](const CasePlace&) { return static_cast<double>(gather_dim); });
  result.expected = [input, scatter_dim, gather_dim](const CasePlace& place) {
    std::vector<at::Tensor> parts;
    for (int rank = 0; rank < place.size; ++rank) parts.push_back(own_chunk(input.of(place, rank), scatter_dim, place));
    return TensorMap{{"out", at::cat(parts, gather_dim)}, {"x", input.of(place, place.rank)}};
  };
  return received(
      result,
      [input](const CasePlace& place) {
        const std::uint64_t bytes = input.bytes(place);
        return bytes - bytes / static_cast<std::uint64_t>(place.size);
      },
      limit);
}

int first_rank(int) {
  return 0;
}
int last_rank(int size) {
  return size - 1;
}

at::Tensor values(std::initializer_list<float> list) {
  return at::tensor(list);
}

/// Bytes that the ring sends from this rank: twice the row without two chunks, which end here.
std::uint64_t ring_bytes(const CasePlace& place, std::int64_t num_elements, std::int64_t element_bytes) {
  const Chunks chunks(at::empty({num_elements}, at::kByte), place.size);
  const std::int64_t left_out =
      chunks.chunk((place.rank + 1) % place.size).numel() + chunks.chunk((place.rank + 2) % place.size).numel();
  return place.size == 1 ? 0 : static_cast<std::uint64_t>((2 * num_elements - left_out) * element_bytes);
}

using Count = std::uint64_t (*)(int size);

Limit at_most_rounds(Count rounds) {
  return [rounds](const CasePlace& place, CostBound& bound) { bound.max_rounds = rounds(place.size); };
}

/// Doubling sends one message a round; a rank that has another's data besides, one more.
Limit doubles(Count rounds) {
  return [rounds](const CasePlace& place, CostBound& bound) {
    bound.max_rounds = bound.max_messages = rounds(place.size);
  };
}

/// One message a round, never two under way; in so many rounds and no fewer.
Limit one_by_one(Count rounds) {
  return [rounds](const CasePlace& place, CostBound& bound) {
    bound.min_rounds = bound.max_messages = rounds(place.size);
  };
}

/// All messages of so many phases at once.
Limit at_once(std::uint64_t phases) {
  return [phases](const CasePlace& place, CostBound& bound) {
    bound.max_rounds = phases;
    bound.min_messages = phases * static_cast<std::uint64_t>(place.size - 1);
  };
}

std::uint64_t one_pass(int size) {
  return static_cast<std::uint64_t>(size - 1);
}
std::uint64_t two_passes(int size) {
  return 2 * one_pass(size);
}

constexpr std::int64_t kLong = (1 << 18) + 3;  // elements: more than a million bytes, which few world sizes divide

}  // namespace

std::vector<Case> collective_cases() {
  const auto one_float = handout([](int rank, int) { return values({10.0F * static_cast<float>(rank + 1)}); });
  const auto counted = handout([](int rank, int) { return values({static_cast<float>(rank + 1)}); });
  const auto pair = handout([](int rank, int) {
    return values({static_cast<float>(rank), static_cast<float>(rank + 10)});
  });
  const auto arange = handout([](int rank, int size) { return at::arange(size, at::kFloat) + rank * size; });
  return {
      broadcast("a9.broadcast", "Broadcast", one_float, first_rank),
      broadcast("a9.broadcast", "BroadcastFromLast", exact({3, 5}, at::kLong, 1), last_rank),
      transposed(broadcast("a9.broadcast", "BroadcastStrided", exact({4, 3, 2}, at::kDouble, 2), last_rank)),
      broadcast("a9.broadcast", "BroadcastLarge", exact({kLong}, at::kFloat, 3), first_rank),
      allreduce("a9.allreduce", "AllReduce", counted),
      allreduce("a9.allreduce", "AllReduceInt64", beyond_double({7}, 4)),
      transposed(allreduce("a9.allreduce", "AllReduceStrided", exact({5, 3}, at::kDouble, 5))),
      allreduce("a9.allreduce", "AllReduceLarge", exact({20011}, at::kFloat, 6)),
      allgather("a9.allgather", "AllGather", pair),
      transposed(allgather("a9.allgather", "AllGatherStrided", exact({3, 2, 4}, at::kLong, 7))),
      allgather("a9.allgather", "AllGatherLarge", exact({20011}, at::kFloat, 8)),
      reduce_scatter("a9.reduce_scatter", "ReduceScatter", arange),
      transposed(reduce_scatter("a9.reduce_scatter", "ReduceScatterStrided", exact({-3, 5}, at::kDouble, 9))),
      reduce_scatter("a9.reduce_scatter", "ReduceScatterLarge", exact({-5003}, at::kFloat, 10)),
      all_to_all("a9.all_to_all", "AllToAll", arange, 0, 0),
      all_to_all("a9.all_to_all", "AllToAllHeads", exact({2, 3, -2, 5}, at::kFloat, 11), 2, 1),
      all_to_all("a9.all_to_all", "AllToAllSequence", exact({2, -3, 2, 5}, at::kFloat, 12), 1, 2),
      transposed(all_to_all("a9.all_to_all", "AllToAllStrided", exact({3, 2, -1}, at::kLong, 13), 2, 0)),
      all_to_all("a9.all_to_all", "AllToAllLarge", exact({-5003}, at::kFloat, 14), 0, 0),
  };
}

std::vector<Case> algorithm_cases() {
  const auto row = exact({1001}, at::kFloat, 20);  // 4004 bytes, which few world sizes divide
  const auto rows = exact({-101}, at::kFloat, 21);
  return {
      broadcast("a9.broadcast_binomial", "BroadcastBinomial", row, last_rank, at_most_rounds(ceil_lg)),
      broadcast("a9.broadcast_chain", "BroadcastChain", exact({kLong}, at::kFloat, 22), last_rank,
                [](const CasePlace& place, CostBound& bound) {
                  bound.max_bytes_sent = kLong * 4;
                  bound.max_rounds = static_cast<std::uint64_t>(place.size - 2 + broadcast_chain_segments(kLong * 4));
                }),
      allreduce("a9.allreduce_recursive_doubling", "AllReduceRecursiveDoubling", row, doubles(doubling_rounds)),
      allreduce("a9.allreduce_ring", "AllReduceRing", row,
                [](const CasePlace& place, CostBound& bound) {
                  one_by_one(two_passes)(place, bound);
                  bound.max_bytes_sent = ring_bytes(place, 1001, 4);
                }),
      allreduce("a9.allreduce_rabenseifner", "AllReduceRabenseifner", row,
                [](const CasePlace& place, CostBound& bound) {
                  bound.max_rounds = bound.max_messages = doubling_rounds(place.size) + floor_lg(place.size);
                  const auto power = static_cast<std::uint64_t>(floor_power_of_two(place.size));
                  // 2 (p-1)/p n, the longest chunks; n more for a rank that has another's data besides.
                  bound.max_bytes_sent = 2 * (power - 1) * ((1001 + power - 1) / power) * 4;
                  if (place.size != floor_power_of_two(place.size)) bound.max_bytes_sent += 4004;
                }),
      allreduce("a9.allreduce_direct", "AllReduceDirect", row, at_once(2)),
      allgather("a9.allgather_ring", "AllGatherRing", row, one_by_one(one_pass)),
      allgather("a9.allgather_recursive_doubling", "AllGatherRecursiveDoubling", row, doubles(doubling_rounds)),
      allgather("a9.allgather_bruck", "AllGatherBruck", row, doubles(ceil_lg)),
      allgather("a9.allgather_direct", "AllGatherDirect", row, at_once(1)),
      reduce_scatter("a9.reduce_scatter_ring", "ReduceScatterRing", rows, one_by_one(one_pass)),
      reduce_scatter("a9.reduce_scatter_recursive_halving", "ReduceScatterRecursiveHalving", rows,
                     doubles(doubling_rounds)),
      all_to_all("a9.all_to_all_pairwise", "AllToAllPairwise", exact({-2, 3, 101}, at::kFloat, 23), 0, 2,
                 one_by_one(one_pass)),
  };
}

}  // namespace lab::a9
