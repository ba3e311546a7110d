#include "vae_sequence_parallel/cases/picture_cost.h"

#include <numeric>

#include "common/testing/test.h"
#include "vae_sequence_parallel/model/seeded_weights.h"

// Compares the counting layers with the formulas of parallel_layers.h and sequence_attention.h.
namespace lab::vae {
namespace {

PictureCost picture(int rank, const std::vector<std::int64_t>& widths) {
  PictureCost cost;
  cost.rank = rank;
  cost.batch = 2;
  cost.height = 16;
  cost.widths = widths;
  return cost;
}

PictureCost through(const Conv2dOptions& options, const PictureCost& x) {
  SeededWeights unused(0);
  return Conv2dCost(Weights(unused), options).forward(x);
}

TEST_CASE("a halo is 2 * floor(k / 2) * B * C * H values for an inner rank, half of that for an outer one") {
  for (const std::int64_t kernel : {1, 3, 5, 7}) {
    CAPTURE(kernel);
    const Conv2dOptions options = {8, 4, kernel, 1, kernel / 2};
    for (int rank = 0; rank < 4; ++rank) {
      const PictureCost cost = through(options, picture(rank, {10, 9, 9, 9}));
      const std::int64_t num_sides = rank == 0 || rank == 3 ? 1 : 2;
      CHECK(cost.messages.bytes_sent == static_cast<std::uint64_t>(num_sides * (kernel / 2) * 2 * 8 * 16 * 4));
      CHECK(cost.messages.bytes_received == cost.messages.bytes_sent);
      CHECK(cost.messages.messages == static_cast<std::uint64_t>(kernel == 1 ? 0 : num_sides));
      CHECK(cost.widths == std::vector<std::int64_t>{10, 9, 9, 9});
    }
  }
}

TEST_CASE("a halo that is wider than a slice comes from further ranks as well") {
  // Rank 3 has column 4 and needs 1 2 3: one of rank 0's two, and those of ranks 1 and 2.
  const PictureCost cost = through({8, 4, 7, 1, 3}, picture(3, {2, 1, 1, 1}));
  CHECK(cost.messages.messages == 3);
  CHECK(cost.messages.bytes_received == 3 * 2 * 8 * 16 * 4);
}

TEST_CASE("with stride 2 an output column belongs to its centre's rank, and halos differ by side") {
  // Centres 0 2 4 6 8: rank 1 has 4, which needs column 3 of rank 0.
  const PictureCost cost = through({8, 4, 3, 2, 1}, picture(1, {4, 1, 4}));
  CHECK(cost.widths == std::vector<std::int64_t>{2, 1, 2});
  CHECK(cost.height == 8);
  CHECK(cost.messages.bytes_received == 2 * 2 * 8 * 16 * 4);  // 3 and 5
  CHECK(cost.messages.messages == 0);                         // no other rank needs 4
}

TEST_CASE("moments are 3 doubles per group, picture and peer; backward, 2") {
  SeededWeights unused(0);
  PictureCost x = picture(0, {4, 4, 4, 4});
  CHECK(GroupNormCost(Weights(unused), 64).forward(x).all_gather.bytes_sent == 3 * 3 * 8 * 32 * 2);
  x.with_gradient = true;
  const PictureCost cost = GroupNormCost(Weights(unused), 64).forward(x);
  CHECK(cost.all_gather.bytes_sent == 3 * 5 * 8 * 32 * 2);
  CHECK(cost.all_gather.calls == 2);
}

TEST_CASE("Ulysses sends 4 (P-1)/P^2 B heads N d values, the ring 2 (P-1)/P B heads N d in P-1 messages") {
  const PictureCost x = picture(2, {4, 4, 4, 4});
  const std::uint64_t values = 2 * 8 * (16 * 16) * 5;  // B heads N d
  CHECK(with_ulysses(x, 8, 5).all_to_all.bytes_sent == 4 * 3 * values / 16 * 4);
  CHECK(with_ulysses(x, 8, 5).all_to_all.calls == 2);
  CHECK(with_ring(x, 8, 5).messages.bytes_sent == 2 * 3 * values / 4 * 4);
  CHECK(with_ring(x, 8, 5).messages.messages == 3);
}

TEST_CASE("a ring may go either way: a rank leaves out the block of the rank before it or after it") {
  const std::vector<std::int64_t> widths = {10, 9, 3, 8};
  const std::uint64_t bytes_of_column = 2 * 2 * 8 * 16 * 5 * 4;  // a key and a value, B heads H d, float32
  const auto total = static_cast<std::uint64_t>(std::accumulate(widths.begin(), widths.end(), std::int64_t{0}));
  for (int rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    const LedgerEntry cost = with_ring(picture(rank, widths), 8, 5).messages;
    for (const int successor : {rank + 1, rank + 3}) {
      const auto kept = static_cast<std::uint64_t>(widths[static_cast<std::size_t>(successor % 4)]);
      CHECK((total - kept) * bytes_of_column <= cost.bytes_sent);
    }
    CHECK(cost.bytes_sent < total * bytes_of_column);  // not a block more
    CHECK(cost.messages == 3);
  }
}

TEST_CASE("FLUX.1's decoder at 256x256: 4.1 MB of halos over each border in each direction, a gather for each norm") {
  std::uint64_t bytes = 0;
  for (int rank = 0; rank < 4; ++rank) {
    SeededWeights unused(0);
    PictureCost x = picture(rank, {8, 8, 8, 8});
    x.batch = 1;
    x.height = 32;
    const AutoEncoderConfig config = flux_config();
    const PictureCost cost = DecoderCost(Weights(unused), config).forward(x);
    CHECK(cost.height == 256);
    CHECK(cost.total_width() == 256);
    CHECK(cost.all_gather.calls == 30);
    x.height = 32;
    bytes += cost.messages.bytes_sent - with_ring(x, 1, 512).messages.bytes_sent;
  }
  CHECK(bytes == 2 * 3 * 4065280);
}

}  // namespace
}  // namespace lab::vae
