#include <c10/core/GradMode.h>

#include "common/api/partition.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "vae_sequence_parallel/model/seeded_weights.h"
#include "vae_sequence_parallel/parallel_layers.h"
#include "vae_sequence_parallel/sequence_attention.h"

// Statistics and attention, which sum in another order when a picture is split, still give the serial module's bits.
// (Convolutions sum in the same order for any width, but the choice of kernel depends on the processor.)
namespace lab::vae {
namespace {

/// A rank's result is bitwise its part of the serial result.
void check_same_bits(int size, const std::function<at::Tensor(Communicator&)>& of_rank,
                     const std::function<at::Tensor(int rank)>& expected) {
  CAPTURE(size);
  const launch::WorldOutcome outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
    const c10::NoGradGuard no_grad;
    return TensorMap{{"out", of_rank(comm)}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (int rank = 0; rank < size; ++rank)
    CHECK(at::equal(outcome.ranks[static_cast<std::size_t>(rank)].tensors.at("out"), expected(rank)));
}

TEST_CASE("the norm of a split picture has the bits of the whole one's") {
  const c10::NoGradGuard no_grad;
  const at::Tensor x = seeded_randn({1, 64, 40, 37}, 1) + at::linspace(0, 20, 37);
  SeededWeights source(2, at::kFloat, 0.5);
  const at::Tensor whole = GroupNorm(Weights(source, "norm"), 64).forward(x.contiguous(at::MemoryFormat::ChannelsLast));
  for (const int size : {2, 3, 5, 8}) {
    const auto of_rank = [&](Communicator& comm) {
      SeededWeights own(2, at::kFloat, 0.5);
      const ParallelGroupNorm norm(Weights(own, "norm"), 64, comm);
      return norm.forward(split_width(x, comm.rank(), comm.size())).columns;
    };
    check_same_bits(size, of_rank, [&](int rank) {
      const Slice own = uneven_slice(37, size, rank);
      return whole.narrow(3, own.begin, own.size);
    });
  }
}

TEST_CASE("attention around a ring has the bits of attention in one process") {
  const c10::NoGradGuard no_grad;
  const std::vector<std::int64_t> shape = {1, 2, 131, 16};
  const at::Tensor q = seeded_randn(shape, 1), k = seeded_randn(shape, 2), v = seeded_randn(shape, 3);
  const at::Tensor whole = attention(q, k, v);
  for (const int size : {2, 3, 5, 8}) {
    const auto part = [&](const at::Tensor& tensor, int rank) {
      const Slice own = uneven_slice(131, size, rank);
      return tensor.narrow(2, own.begin, own.size).contiguous();
    };
    const auto of_rank = [&](Communicator& comm) {
      const int rank = comm.rank();
      return ring_attention(part(q, rank), part(k, rank), part(v, rank), uneven_sizes(131, size),
                            comm.point_to_point());
    };
    check_same_bits(size, of_rank, [&](int rank) { return part(whole, rank); });
  }
}

}  // namespace
}  // namespace lab::vae
