#include <c10/core/GradMode.h>

#include "common/comm/messages/get_endpoint.h"
#include "common/tensor/meters/memory_meter.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "vae_sequence_parallel/layers.h"
#include "vae_sequence_parallel/sequence_attention.h"
#include "vae_sequence_parallel/tests/attention_world.h"

namespace lab::vae {
namespace {

at::Tensor ring(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const std::vector<std::int64_t>& lengths,
                Communicator& comm) {
  return ring_attention(q, k, v, lengths, comm.point_to_point());
}

struct Sizes {
  std::int64_t batch, heads, channels;
};

TEST_CASE("ring attention: output and gradients of one process, for any lengths and heads") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    for (const std::vector<std::int64_t>& lengths : length_patterns(size)) {
      for (const Sizes& sizes : {Sizes{1, 1, 1}, {2, 2, 3}, {1, 4, 8}, {2, 8, 4}, {1, 1, 16}}) {
        for (const at::ScalarType dtype : {at::kFloat, at::kDouble})
          check_same(ring, random_data({sizes.batch, sizes.heads, total(lengths), sizes.channels}, dtype), lengths);
      }
    }
  }
}

TEST_CASE("ring attention: scores of thousands, and a maximum that grows from block to block") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    for (const std::vector<std::int64_t>& lengths : length_patterns(size)) check_large_scores(ring, 2, lengths);
  }
}

TEST_CASE("ring attention: in groups, and between processes") {
  check_groups(ring);
  check_processes(ring);
}

TEST_CASE("ring attention: what does not fit is refused, what differs between ranks is reported") {
  check_refusals(ring);
  check_disagreement(ring);
}

TEST_CASE("ring attention: cost, to the byte") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    for (const std::vector<std::int64_t>& lengths : length_patterns(size)) {
      const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
        const auto spent = [&] {
          const LedgerEntry cost = get_endpoint(comm).ledger().total();
          return at::tensor({static_cast<std::int64_t>(cost.messages), static_cast<std::int64_t>(cost.bytes_sent)});
        };
        const at::Tensor x = at::ones({2, 3, lengths[static_cast<std::size_t>(comm.rank())], 4}).requires_grad_();
        const at::Tensor out = ring(x, x, x, lengths, comm);
        const at::Tensor forward = spent();
        out.sum().backward();
        return TensorMap{{"forward", forward}, {"backward", spent() - forward}};
      });
      if (outcome.failure) FAIL(outcome.failure->message);
      for (int rank = 0; rank < size; ++rank) {
        CAPTURE(size);
        CAPTURE(rank);
        const std::int64_t others = size - 1;  // a single rank sends nothing
        const std::int64_t bytes = 2 * (2 * 3 * 4) * 4;
        const std::int64_t forward = bytes * (total(lengths) - lengths[static_cast<std::size_t>((rank + 1) % size)]);
        const std::int64_t gradients = others == 0 ? 0 : bytes * total(lengths);
        const std::int64_t backward_messages = others == 0 ? 0 : others + size;
        const TensorMap& counted = outcome.ranks[static_cast<std::size_t>(rank)].tensors;
        CHECK(at::equal(counted.at("forward"), at::tensor({others, forward})));
        CHECK(at::equal(counted.at("backward"), at::tensor({backward_messages, forward + gradients})));
      }
    }
  }
}

/// The peak memory added by a call, on the rank with the highest.
struct Peaks {
  std::int64_t forward = 0;  ///< without gradients
  std::int64_t both = 0;
};

Peaks bound_peaks(int size, std::int64_t length, std::int64_t channels, const AttentionCall& call) {
  install_memory_meter();
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(size), length);
  const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
    const auto leaf = [&](std::uint64_t seed) { return seeded_randn({1, 1, length, channels}, seed).requires_grad_(); };
    const at::Tensor q = leaf(1), k = leaf(2), v = leaf(3);
    std::vector<std::int64_t> peaks;
    for (const bool gradients : {false, true}) {
      const c10::AutoGradMode mode(gradients);
      const MemoryScope scope;
      const at::Tensor out = call(q, k, v, lengths, comm);
      if (gradients) out.sum().backward();
      peaks.push_back(scope.reading().peak_bytes);
    }
    return TensorMap{{"peaks", at::tensor(peaks)}};
  });
  if (outcome.failure) FAIL(outcome.failure->message);
  Peaks most;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    const at::Tensor& peaks = rank.tensors.at("peaks");
    most.forward = std::max(most.forward, peaks[0].item<std::int64_t>());
    most.both = std::max(most.both, peaks[1].item<std::int64_t>());
  }
  return most;
}

TEST_CASE("ring attention: memory is that of one block's scores, not of all") {
  constexpr std::int64_t kPositions = 1024, kChannels = 16;
  const AttentionCall alone = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const std::vector<std::int64_t>&, Communicator&) { return attention(q, k, v); };
  const Peaks serial = bound_peaks(1, kPositions, kChannels, alone);
  for (const int size : {1, 2, 4, 8}) {
    CAPTURE(size);
    const std::int64_t length = kPositions / size;
    const std::int64_t scores = length * length * 8, vectors = length * kChannels * 8, numbers = length * 8;
    const Peaks ring_peaks = bound_peaks(size, length, kChannels, ring);
    // q and out; k and v of this block and of the next.
    CHECK(ring_peaks.forward <= scores + 6 * vectors + 6 * numbers);
    // The same; their gradients, twice; those of q and out; one temporary vector.
    CHECK(ring_peaks.both <= 2 * scores + 13 * vectors + 6 * numbers);
    CHECK(serial.forward >= scores * size * size);
    CHECK(serial.both >= 2 * scores * size * size);
  }
}

}  // namespace
}  // namespace lab::vae
