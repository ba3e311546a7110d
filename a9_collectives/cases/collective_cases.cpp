#include "a9_collectives/cases/case_builders.h"
#include "a9_collectives/cases/cases.h"
#include "common/tensor/exact_data.h"

namespace lab::a9 {
namespace {

/// Integers that float64 cannot represent exactly: sums computed in it lose their last digits.
Input beyond_double(const std::vector<std::int64_t>& shape, std::uint64_t offset) {
  Input input = exact(shape, at::kLong, offset);
  const auto small = input.of;
  input.of = [small](const CasePlace& place, int rank) { return small(place, rank) + (std::int64_t{1} << 57) + rank; };
  return input;
}

/// The handout's numbers, under the seed that is the default. Under any other as many drawn ones: who knows the handout
/// must not know what a judged rank is sent.
Input handout(const std::function<at::Tensor(int rank, int size)>& values, std::uint64_t offset) {
  return {[=](const CasePlace& place, int rank) {
            const at::Tensor given = values(rank, place.size);
            if (place.seed == CasePlace{}.seed) return given;
            return exact_values_for_rank(given.sizes(), given.scalar_type(), place.seed + offset, rank);
          },
          [values](const CasePlace& place) { return static_cast<std::uint64_t>(values(0, place.size).nbytes()); }};
}

at::Tensor values(std::initializer_list<float> list) {
  return at::tensor(list);
}

int first_rank(int) {
  return 0;
}

}  // namespace

std::vector<Case> collective_cases() {
  const auto one_float = handout([](int rank, int) { return values({10.0F * static_cast<float>(rank + 1)}); }, 15);
  const auto counted = handout([](int rank, int) { return values({static_cast<float>(rank + 1)}); }, 16);
  const auto pair = handout(
      [](int rank, int) {
        return values({static_cast<float>(rank), static_cast<float>(rank + 10)});
      },
      17);
  const auto arange = handout([](int rank, int size) { return at::arange(size, at::kFloat) + rank * size; }, 18);
  return {
      broadcast_case("a9.broadcast", "Broadcast", one_float, first_rank),
      broadcast_case("a9.broadcast", "BroadcastFromLast", exact({3, 5}, at::kLong, 1), last_rank),
      transposed(broadcast_case("a9.broadcast", "BroadcastStrided", exact({4, 3, 2}, at::kDouble, 2), last_rank)),
      broadcast_case("a9.broadcast", "BroadcastLarge", exact({kLongElements}, at::kFloat, 3), first_rank),
      allreduce_case("a9.allreduce", "AllReduce", counted),
      allreduce_case("a9.allreduce", "AllReduceInt64", beyond_double({7}, 4)),
      transposed(allreduce_case("a9.allreduce", "AllReduceStrided", exact({5, 3}, at::kDouble, 5))),
      allreduce_case("a9.allreduce", "AllReduceLarge", exact({20011}, at::kFloat, 6)),
      allgather_case("a9.allgather", "AllGather", pair),
      transposed(allgather_case("a9.allgather", "AllGatherStrided", exact({3, 2, 4}, at::kLong, 7))),
      allgather_case("a9.allgather", "AllGatherLarge", exact({20011}, at::kFloat, 8)),
      reduce_scatter_case("a9.reduce_scatter", "ReduceScatter", arange),
      transposed(reduce_scatter_case("a9.reduce_scatter", "ReduceScatterStrided", exact({-3, 5}, at::kDouble, 9))),
      reduce_scatter_case("a9.reduce_scatter", "ReduceScatterLarge", exact({-5003}, at::kFloat, 10)),
      all_to_all_case("a9.all_to_all", "AllToAll", arange, 0, 0),
      all_to_all_case("a9.all_to_all", "AllToAllHeads", exact({2, 3, -2, 5}, at::kFloat, 11), 2, 1),
      all_to_all_case("a9.all_to_all", "AllToAllSequence", exact({2, -3, 2, 5}, at::kFloat, 12), 1, 2),
      transposed(all_to_all_case("a9.all_to_all", "AllToAllStrided", exact({3, 2, -1}, at::kLong, 13), 2, 0)),
      all_to_all_case("a9.all_to_all", "AllToAllLarge", exact({-5003}, at::kFloat, 14), 0, 0),
  };
}

}  // namespace lab::a9
