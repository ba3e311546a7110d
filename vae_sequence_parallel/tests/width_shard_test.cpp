#include "vae_sequence_parallel/model/width_shard.h"

#include "common/api/errors.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/tensor/exact_data.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "vae_sequence_parallel/cases/case_pictures.h"
#include "vae_sequence_parallel/tests/width_world.h"

namespace lab::vae {
namespace {

TEST_CASE("split_width: as even as possible, the first ranks take one column more, new and with channels last") {
  const at::Tensor picture = exact_values({2, 3, 4, 5}, at::kFloat, 1);
  const std::vector<std::int64_t> begins = {0, 2, 3, 4};
  for (int rank = 0; rank < 4; ++rank) {
    const WidthShard shard = split_width(picture, rank, 4);
    CHECK(shard.widths == std::vector<std::int64_t>{2, 1, 1, 1});
    CHECK(shard.total_width() == 5);
    CHECK(at::equal(shard.columns, picture.narrow(3, begins[static_cast<std::size_t>(rank)], rank == 0 ? 2 : 1)));
    CHECK(shard.columns.is_contiguous(at::MemoryFormat::ChannelsLast));
    CHECK_FALSE(shard.columns.is_alias_of(picture));
  }
  CHECK_FALSE(split_width(picture, 0, 1).columns.is_alias_of(picture));
}

TEST_CASE("split_width: fewer columns than ranks, or no picture at all, is refused") {
  CHECK_THROWS_WITH_AS(split_width(at::ones({1, 2, 3, 4}), 0, 5),
                       doctest::Contains("at least one column for each of 5 ranks, got float32 [1, 2, 3, 4]"),
                       ContractError);
  CHECK_THROWS_AS(split_width(at::ones({2, 3, 4}), 0, 2), ContractError);
  CHECK_THROWS_AS(split_width(at::Tensor(), 0, 2), ContractError);
}

TEST_CASE("gather_width: the whole picture on every rank, for the bytes of the own columns to each other rank") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    for (const std::vector<std::int64_t>& widths : width_patterns(size)) {
      const at::Tensor picture = exact_values({2, 3, 4, compute_total(widths)}, at::kFloat, 1);
      const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
        const at::Tensor own = own_columns(picture, widths, comm.rank());
        const at::Tensor whole = gather_width({own, widths}, comm.collectives());
        const auto bytes = static_cast<std::int64_t>(get_endpoint(comm).ledger().total().bytes_sent);
        return TensorMap{{"whole", whole}, {"bytes", at::tensor(bytes)}};
      });
      CAPTURE(size);
      REQUIRE_FALSE(outcome.failure);
      for (std::size_t rank = 0; rank < widths.size(); ++rank) {
        const TensorMap& tensors = outcome.ranks[rank].tensors;
        CHECK(at::equal(tensors.at("whole"), picture));
        CHECK(tensors.at("bytes").item<std::int64_t>() == (size - 1) * widths[rank] * 2 * 3 * 4 * 4);
      }
    }
  }
}

TEST_CASE("check_shard: names the place, the rank, what was expected and what came") {
  const at::Tensor columns = at::ones({1, 2, 3, 4});
  CHECK_NOTHROW(check_shard({columns, {4, 5}}, 2, 0, 2, "here"));
  CHECK_NOTHROW(check_shard({columns, {5, 4}}, 0, 1, 2, "here"));
  CHECK_NOTHROW(check_shard({at::ones({1, 2, 3, 0}), {4, 0}}, 2, 1, 2, "here"));
  CHECK_THROWS_WITH_AS(check_shard({columns, {4}}, 2, 0, 2, "here"),
                       "here, rank 0: expected the widths of 2 ranks, got 1: [4]", ContractError);
  CHECK_THROWS_WITH_AS(check_shard({columns, {4, 5}}, 2, 1, 2, "here"),
                       "here, rank 1: expected columns of shape [B, 2, H, 5], got float32 [1, 2, 3, 4]; widths: [4, 5]",
                       ContractError);
  CHECK_THROWS_WITH_AS(check_shard({columns, {4, 5}}, 3, 0, 2, "here"), doctest::Contains("[B, 3, H, 4]"),
                       ContractError);
  CHECK_THROWS_WITH_AS(check_shard({columns[0], {4, 5}}, 0, 0, 2, "here"), doctest::Contains("[B, C, H, 4]"),
                       ContractError);
}

}  // namespace
}  // namespace lab::vae
