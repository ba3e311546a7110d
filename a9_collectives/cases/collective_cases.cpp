#include "a9_collectives/cases/case_builders.h"
#include "a9_collectives/cases/cases.h"
#include "common/tensor/exact_data.h"

namespace lab::a9 {
namespace {

/// The handout's numbers, under the seed that is the default. Under any other as many drawn ones: who knows the handout
/// must not know what a judged rank is sent.
Input handout(const std::function<at::Tensor(int rank, int size)>& values, std::uint64_t offset) {
  return {[=](const CasePlace& place, int first_rank, int num_ranks) {
            return of_each_rank(first_rank, num_ranks, [&](int rank) {
              const at::Tensor given = values(rank, place.size);
              if (place.seed == CasePlace{}.seed) return given;
              return exact_values_for_rank(given.sizes(), given.scalar_type(), place.seed + offset, rank);
            });
          },
          [values](const CasePlace& place) { return static_cast<std::uint64_t>(values(0, place.size).nbytes()); }};
}

at::Tensor values(std::initializer_list<float> list) {
  return at::tensor(list);
}

int first_rank(int) {
  return 0;
}

/// Every collective where the larger of input and result has a little more than `bytes`: a solution that chooses its
/// algorithm by size may be wrong from any size on.
std::vector<Case> long_cases(const std::string& suffix, std::int64_t bytes, std::uint64_t offset) {
  const std::int64_t whole = bytes / 4 + 3;
  const auto part = [whole](int size) { return whole / size + 1; };
  const Input row = long_row([whole](int) { return whole; }, offset), one_part = long_row(part, offset + 1),
              parts = long_row([part](int size) { return size * part(size); }, offset + 2);
  std::vector<Case> cases = {broadcast_case("a9.broadcast", "Broadcast" + suffix, row, last_rank),
                             allreduce_case("a9.allreduce", "AllReduce" + suffix, row),
                             allgather_case("a9.allgather", "AllGather" + suffix, one_part),
                             reduce_scatter_case("a9.reduce_scatter", "ReduceScatter" + suffix, parts),
                             all_to_all_case("a9.all_to_all", "AllToAll" + suffix, parts, 0, 0)};
  for (Case& test_case : cases) test_case.costly = bytes >= std::int64_t{1} << 20;
  return cases;
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

std::vector<Case> further_collective_cases() {
  const at::ScalarType bf16 = at::kBFloat16;
  const auto slice = [](std::uint64_t offset) { return exact({-2, 3}, at::kFloat, offset); };
  const auto empty = [](std::uint64_t offset) { return exact({0, 3}, at::kFloat, offset); };
  const auto idle = [](Case test_case) {
    test_case.earns_alone = false;
    return test_case;
  };
  std::vector<Case> cases = {
      broadcast_case("a9.broadcast", "BroadcastBFloat16", exact({3, 5}, bf16, 25), last_rank),
      broadcast_case("a9.broadcast", "BroadcastScalar", exact({}, at::kFloat, 26), last_rank),
      idle(broadcast_case("a9.broadcast", "BroadcastEmpty", empty(27), last_rank)),
      sliced(broadcast_case("a9.broadcast", "BroadcastSlice", slice(28), last_rank)),
      allreduce_case("a9.allreduce", "AllReduceBFloat16", exact({7, 3}, bf16, 29)),
      allreduce_case("a9.allreduce", "AllReduceScalar", exact({}, at::kFloat, 30)),
      idle(allreduce_case("a9.allreduce", "AllReduceEmpty", empty(31))),
      sliced(allreduce_case("a9.allreduce", "AllReduceSlice", slice(32))),
      with_same_bits(allreduce_case("a9.allreduce", "AllReduceSameBits", rounded({1001}, 24))),
      allgather_case("a9.allgather", "AllGatherBFloat16", exact({3, 5}, bf16, 33)),
      idle(allgather_case("a9.allgather", "AllGatherEmpty", empty(34))),
      sliced(allgather_case("a9.allgather", "AllGatherSlice", slice(35))),
      reduce_scatter_case("a9.reduce_scatter", "ReduceScatterBFloat16", exact({-3, 5}, bf16, 36)),
      idle(reduce_scatter_case("a9.reduce_scatter", "ReduceScatterEmpty", empty(37))),
      sliced(reduce_scatter_case("a9.reduce_scatter", "ReduceScatterSlice", slice(38))),
      all_to_all_case("a9.all_to_all", "AllToAllBFloat16", exact({3, -1, 5}, bf16, 39), 1, 0),
      idle(all_to_all_case("a9.all_to_all", "AllToAllEmpty", empty(40), 0, 1)),
      sliced(all_to_all_case("a9.all_to_all", "AllToAllSlice", slice(41), 0, 1)),
      all_to_all_case("a9.all_to_all", "AllToAllWithinMiddle", exact({2, -3, 5}, at::kFloat, 42), 1, 1),
      all_to_all_case("a9.all_to_all", "AllToAllWithinLast", exact({3, 2, -2}, at::kFloat, 43), 2, 2),
      all_to_all_case("a9.all_to_all", "AllToAllFromTheEnd", exact({2, 3, -2}, at::kFloat, 44), -1, -3)};
  const auto add = [&](const std::vector<Case>& more) { cases.insert(cases.end(), more.begin(), more.end()); };
  std::vector<Case> middle = long_cases("256KiB", std::int64_t{256} << 10, 45);
  middle[1] = with_same_bits(allreduce_case("a9.allreduce", middle[1].name, rounded({(256 << 10) / 4 + 3}, 54)));
  add(middle);
  add(long_cases("1MiB", std::int64_t{1} << 20, 48));
  std::vector<Case> longest = long_cases("8MiB", std::int64_t{8} << 20, 51);
  longest.resize(3);  // the others would take as long again
  for (Case& test_case : longest) {
    test_case.skip_reason = [](int size) { return size == 4 ? "" : "8 MiB are sent among 4 ranks only"; };
    test_case.once = "shorter ones are called twice";
  }
  add(longest);
  return cases;
}

}  // namespace lab::a9
