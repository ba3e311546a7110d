#include <fmt/format.h>

#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/calls/catalogue.h"
#include "a9_collectives/parts.h"
#include "a9_collectives/reduce_scatter.h"
#include "common/tensor/exact_data.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Every algorithm gives the right bits: at every world size, for every dtype, whatever the strides. Data are
// integers whose sums are exact, so any order of summation must agree to the bit.
namespace lab::a9 {
namespace {

constexpr std::uint64_t kSeed = 5;
const std::vector<int> kSizes = {1, 2, 3, 4, 5, 6, 7, 8};
const std::vector<at::ScalarType> kDtypes = {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kLong, at::kInt};

using OnRank = std::function<at::Tensor(const at::Tensor& input, PointToPoint&)>;
using Expected = std::function<at::Tensor(const std::vector<at::Tensor>& inputs, int rank)>;

/// Each rank's result for inputs that differ from rank to rank. `prepare` may change the input's strides.
void check_everywhere(const std::vector<std::int64_t>& shape, at::ScalarType dtype, int size, const OnRank& run,
                      const Expected& expected, bool transposed = false) {
  std::vector<at::Tensor> inputs;
  for (int rank = 0; rank < size; ++rank) inputs.push_back(exact_values_for_rank(shape, dtype, kSeed, rank));
  const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
    at::Tensor input = inputs[static_cast<std::size_t>(comm.rank())].clone();
    if (transposed) input = input.transpose(0, -1).contiguous().transpose(0, -1);
    return TensorMap{{"result", run(input, comm.point_to_point()).clone()}, {"input", input}};
  });
  REQUIRE_MESSAGE(!outcome.failure, (outcome.failure ? outcome.failure->message : ""));
  for (int rank = 0; rank < size; ++rank) {
    CAPTURE(rank);
    const at::Tensor& result = outcome.ranks[static_cast<std::size_t>(rank)].tensors.at("result");
    const at::Tensor wanted = expected(inputs, rank);
    REQUIRE(result.sizes().vec() == wanted.sizes().vec());
    CHECK((result.scalar_type() == dtype));
    CHECK(at::equal(result, wanted));
  }
}

at::Tensor compute_sum(const std::vector<at::Tensor>& tensors) {
  at::Tensor sum = tensors[0].clone();
  for (std::size_t rank = 1; rank < tensors.size(); ++rank) sum.add_(tensors[rank]);
  return sum;
}

Expected compute_expected(const std::string& collective, int src_rank = 0) {
  if (collective == "broadcast") {
    return [src_rank](const auto& inputs, int) { return inputs[static_cast<std::size_t>(src_rank)]; };
  }
  if (collective == "allreduce") return [](const auto& inputs, int) { return compute_sum(inputs); };
  if (collective == "allgather") return [](const auto& inputs, int) { return at::cat(inputs, 0); };
  if (collective == "reduce_scatter") {
    return [](const auto& inputs, int rank) {
      return compute_sum(inputs).chunk(static_cast<std::int64_t>(inputs.size()), 0)[static_cast<std::size_t>(rank)];
    };
  }
  return [](const auto& inputs, int rank) {
    std::vector<at::Tensor> parts;
    for (const at::Tensor& input : inputs)
      parts.push_back(input.chunk(static_cast<std::int64_t>(inputs.size()), 0)[static_cast<std::size_t>(rank)]);
    return at::cat(parts, 0);
  };
}

/// Dim 0 divides by the world size; the number of elements does not.
std::vector<std::int64_t> shape_for(int size) {
  return {2 * size, 3, 5};
}

TEST_CASE("every algorithm, at every world size and dtype") {
  for (const Collective& collective : catalogue()) {
    std::vector<std::pair<std::string, OnRank>> runs = {{"my", collective.run}};
    for (const Algorithm& algorithm : collective.algorithms) runs.emplace_back(algorithm.name, algorithm.run);
    for (const auto& [name, run] : runs) {
      for (const int size : kSizes) {
        for (const at::ScalarType dtype : kDtypes) {
          INFO(collective.name << " " << name << " on " << size << " ranks, dtype " << static_cast<int>(dtype));
          check_everywhere(shape_for(size), dtype, size, run, compute_expected(collective.name));
        }
        INFO(collective.name << " " << name << " on " << size << " ranks, not contiguous");
        check_everywhere(shape_for(size), at::kFloat, size, run, compute_expected(collective.name), true);
      }
    }
  }
}

TEST_CASE("tensors with fewer elements than ranks, empty ones, and scalars") {
  for (const Collective& collective : catalogue()) {
    for (const Algorithm& algorithm : collective.algorithms) {
      INFO(collective.name << " " << algorithm.name);
      const bool cuts_rows = collective.name == "reduce_scatter" || collective.name == "all_to_all";
      check_everywhere({cuts_rows ? 5 : 1}, at::kFloat, 5, algorithm.run, compute_expected(collective.name));
      check_everywhere({5, 0, 2}, at::kFloat, 5, algorithm.run, compute_expected(collective.name));
      if (collective.name == "broadcast" || collective.name == "allreduce")
        check_everywhere({}, at::kLong, 5, algorithm.run, compute_expected(collective.name));
    }
  }
}

TEST_CASE("broadcast from every rank, by every algorithm, in many segments too") {
  using Broadcast = at::Tensor (*)(at::Tensor, int, PointToPoint&);
  for (const Broadcast broadcast : {&my_broadcast, &broadcast_flat, &broadcast_binomial, &broadcast_chain}) {
    for (const int size : {2, 3, 5, 8}) {
      for (int src_rank = 0; src_rank < size; ++src_rank) {
        CAPTURE(size);
        CAPTURE(src_rank);
        const auto run = [&](const at::Tensor& input, PointToPoint& p2p) { return broadcast(input, src_rank, p2p); };
        check_everywhere({7}, at::kFloat, size, run, compute_expected("broadcast", src_rank));
      }
    }
    const auto run = [&](const at::Tensor& input, PointToPoint& p2p) { return broadcast(input, 2, p2p); };
    check_everywhere({(1 << 20) + 3}, at::kFloat, 4, run, compute_expected("broadcast", 2));
  }
}

TEST_CASE("all-to-all along all pairs of dimensions, counted from either end") {
  for (const int size : {1, 2, 3, 4}) {
    for (std::int64_t scatter_dim = -4; scatter_dim < 4; ++scatter_dim) {
      for (std::int64_t gather_dim = -4; gather_dim < 4; ++gather_dim) {
        CAPTURE(size);
        CAPTURE(scatter_dim);
        CAPTURE(gather_dim);
        const auto run = [&](const at::Tensor& input, PointToPoint& p2p) {
          return my_all_to_all(input, scatter_dim, gather_dim, p2p);
        };
        const auto pairwise = [&](const at::Tensor& input, PointToPoint& p2p) {
          return all_to_all_pairwise(input, scatter_dim, gather_dim, p2p);
        };
        const auto bruck = [&](const at::Tensor& input, PointToPoint& p2p) {
          return all_to_all_bruck(input, scatter_dim, gather_dim, p2p);
        };
        const Expected expected = [&](const std::vector<at::Tensor>& inputs, int rank) {
          std::vector<at::Tensor> parts;
          for (const at::Tensor& input : inputs) {
            const std::int64_t length = input.size(scatter_dim) / size;
            parts.push_back(input.narrow(scatter_dim, rank * length, length));
          }
          return at::cat(parts, gather_dim);
        };
        const std::vector<std::int64_t> shape(4, size == 1 ? 3 : size);
        check_everywhere(shape, at::kFloat, size, run, expected);
        check_everywhere(shape, at::kFloat, size, pairwise, expected, true);
        check_everywhere(shape, at::kFloat, size, bruck, expected, true);
      }
    }
  }
}

TEST_CASE("results are new where the contract says so, and inputs stay") {
  for (const Collective& collective : catalogue()) {
    const bool in_place = collective.name == "broadcast" || collective.name == "allreduce";
    for (const int size : {1, 4}) {
      const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
        const at::Tensor input = exact_values_for_rank({8}, at::kFloat, kSeed, comm.rank());
        const at::Tensor before = input.clone();
        const at::Tensor result = collective.run(input, comm.point_to_point());
        return TensorMap{{"same", at::tensor(result.data_ptr() == input.data_ptr() ? 1 : 0)},
                         {"unchanged", at::tensor(at::equal(input, before) ? 1 : 0)}};
      });
      REQUIRE_FALSE(outcome.failure);
      for (const launch::RankOutcome& rank : outcome.ranks) {
        INFO(collective.name);
        CHECK(rank.tensors.at("same").item().toInt() == (in_place ? 1 : 0));
        if (!in_place) CHECK(rank.tensors.at("unchanged").item().toInt() == 1);
      }
    }
  }
}

TEST_CASE("parts: the own one is sent from the rank's tensor, and the result has a copy of it") {
  const auto outcome = launch::run_ranks(threads(2), [&](Communicator& comm) {
    const at::Tensor rows = exact_values_for_rank({3, 4}, at::kFloat, kSeed, comm.rank());
    const Parts parts(rows, comm.point_to_point()), of_columns(rows.t(), comm.point_to_point());
    const int rank = comm.rank();
    const bool same_memory = parts.own().data_ptr() == rows.data_ptr() && parts.part(rank).is_same(parts.own());
    const at::Tensor copy = parts.range(rank, rank + 1);
    const bool copied = copy.data_ptr() != rows.data_ptr() && at::equal(copy, rows);
    const bool whole = of_columns.own().is_contiguous() && at::equal(of_columns.own(), rows.t()) &&
                       at::equal(of_columns.range(rank, rank + 1), rows.t());
    return TensorMap{{"good", at::tensor(same_memory && copied && whole ? 1 : 0)}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const launch::RankOutcome& rank : outcome.ranks) CHECK(rank.tensors.at("good").item().toInt() == 1);
}

TEST_CASE("NaN and infinity reach the ranks that they must reach, and no other element") {
  for (const Collective& collective : catalogue()) {
    const auto outcome = launch::run_ranks(threads(4), [&](Communicator& comm) {
      const at::Tensor input = at::ones({8});
      if (comm.rank() == 0) input[5].fill_(std::numeric_limits<float>::quiet_NaN());
      return TensorMap{{"nans", at::isnan(collective.run(input, comm.point_to_point())).sum()}};
    });
    REQUIRE_FALSE(outcome.failure);
    int num_nans = 0;
    for (const launch::RankOutcome& rank : outcome.ranks) num_nans += rank.tensors.at("nans").item().toInt();
    INFO(collective.name);
    CHECK(num_nans == (collective.name == "reduce_scatter" || collective.name == "all_to_all" ? 1 : 4));
  }
}

TEST_CASE("floating-point sums: all ranks get the same bits, whatever the algorithm") {
  for (const Algorithm& algorithm : collective_named("allreduce").algorithms) {
    for (const int size : {3, 4, 6, 8}) {
      const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
        const at::Tensor input = exact_values_for_rank({101}, at::kDouble, kSeed, comm.rank()).div_(3).to(at::kFloat);
        return TensorMap{{"sum", algorithm.run(input, comm.point_to_point())}};
      });
      REQUIRE_FALSE(outcome.failure);
      INFO(algorithm.name << " on " << size);
      for (const launch::RankOutcome& rank : outcome.ranks)
        CHECK(at::equal(rank.tensors.at("sum"), outcome.ranks[0].tensors.at("sum")));
    }
  }
}

}  // namespace
}  // namespace lab::a9
