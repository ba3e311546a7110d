#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/tensor/exact_data.h"
#include "common/tensor/meters/memory_meter.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "vae_sequence_parallel/cases/case_pictures.h"
#include "vae_sequence_parallel/model/seeded_weights.h"
#include "vae_sequence_parallel/parallel_layers.h"
#include "vae_sequence_parallel/tests/attention_world.h"
#include "vae_sequence_parallel/tests/width_world.h"

// Bitwise the columns of the whole picture's convolution: sums of integers are exact in any order.
namespace lab::vae {
namespace {

using WidthsOf = std::vector<std::int64_t>;

WidthTrial exact_trial(const Conv2dOptions& options, const WidthsOf& widths, at::ScalarType dtype) {
  const at::Tensor x = exact_values({2, options.in_channels, 7, compute_total(widths)}, dtype, 3);
  WidthTrial trial = make_trial<Conv2d, ParallelConv2d>(x, widths, options);
  trial.exact = true;
  return trial;
}

void check_equal(const WidthTrial& trial) {
  const TensorMap expected = serial_results(trial), actual = parallel_results(trial);
  CHECK(actual.size() == 4);
  for (const auto& [name, tensor] : expected) {
    CAPTURE(name);
    CHECK(at::equal(actual.at(name), tensor));
  }
}

void check_windows(const WidthsOf& widths, at::ScalarType dtype) {
  for (const std::int64_t kernel : {1, 3, 5, 7}) {
    for (const std::int64_t stride : {1, 2}) {
      for (const std::int64_t padding : {std::int64_t{0}, kernel / 2, kernel / 2 + 2}) {
        if (compute_total(widths) + 2 * padding < kernel || (padding == 0 && kernel == 1 && stride == 2)) continue;
        CAPTURE(fmt::format("widths {}, kernel {}, stride {}, padding {}", fmt::join(widths, " "), kernel, stride,
                            padding));
        check_equal(exact_trial({3, 4, kernel, stride, padding}, widths, dtype));
      }
    }
  }
}

TEST_CASE("ParallelConv2d: output and gradients of every kernel, stride and padding, on every spread of columns") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    for (const WidthsOf& widths : width_patterns(size)) check_windows(widths, at::kDouble);
  }
}

TEST_CASE("ParallelConv2d: even and uneven widths, float64 too") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    for (const std::int64_t total : {8, 13, 37}) {
      const WidthsOf widths = uneven_sizes(total, size);
      CAPTURE(fmt::format("{}", fmt::join(widths, " ")));
      for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
        check_equal(exact_trial({3, 4}, widths, dtype));
        check_equal(exact_trial({3, 4, 3, 2, 1}, widths, dtype));
      }
    }
  }
  check_windows({0, 2, 0, 1, 3}, at::kFloat);
}

TEST_CASE("ParallelConv2d: groups of ranks do not affect each other when they run at the same time") {
  const Conv2dOptions options = {3, 4};
  const std::vector<std::vector<int>> groups = {{3, 1}, {2, 0, 4}};
  const auto picture = [](std::size_t group) { return exact_values({1, 3, 5, 9}, at::kFloat, group); };
  const auto outcome = launch::run_ranks(threads(5), [&](Communicator& comm) {
    const std::size_t group = comm.rank() % 2 == 1 ? 0 : 1;
    Communicator members = comm.subgroup(groups[group]);
    SeededWeights weights(1);
    const ParallelConv2d conv(Weights(weights), options, members);
    const WidthShard out = conv.forward(split_width(picture(group), members.rank(), members.size()));
    return TensorMap{{"out", gather_width(out, members.collectives())}};
  });
  REQUIRE_FALSE(outcome.failure);
  SeededWeights weights(1);
  const Conv2d serial(Weights(weights), options);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const int rank : groups[group]) {
      const at::Tensor& out = outcome.ranks[static_cast<std::size_t>(rank)].tensors.at("out");
      CHECK(at::allclose(out, serial.forward(picture(group)), 1e-6, 1e-5));
    }
  }
}

/// One rank's messages and bytes sent, in the forward pass, then in both passes.
struct Sent {
  std::int64_t forward_messages, forward_bytes, messages, bytes;
};

std::vector<Sent> sent_by_each(const Conv2dOptions& options, const WidthsOf& widths) {
  const auto outcome = launch::run_ranks(
      threads(static_cast<int>(widths.size())), launch::RankBody([&](Communicator& comm, launch::RankOutcome& own) {
        const auto count = [&](const char* name) {
          const LedgerEntry total = get_endpoint(comm).ledger().total();
          own.tensors[name] =
              at::tensor({static_cast<std::int64_t>(total.messages), static_cast<std::int64_t>(total.bytes_sent)});
        };
        SeededWeights weights(1);
        const ParallelConv2d conv(Weights(weights), options, comm);
        const at::Tensor x = exact_values({2, options.in_channels, 6, compute_total(widths)}, at::kFloat, 3);
        const at::Tensor own_x = own_columns(x, widths, comm.rank()).requires_grad_();
        const WidthShard out = conv.forward({own_x, widths});
        count("forward");
        out.columns.sum().backward();
        count("both");
      }));
  REQUIRE_FALSE(outcome.failure);
  std::vector<Sent> sent;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    const at::Tensor& forward = rank.tensors.at("forward");
    const at::Tensor& both = rank.tensors.at("both");
    sent.push_back({forward[0].item<std::int64_t>(), forward[1].item<std::int64_t>(), both[0].item<std::int64_t>(),
                    both[1].item<std::int64_t>()});
  }
  return sent;
}

TEST_CASE("cost: an inner rank sends half a kernel's width of columns to each side, and gets as many gradients back") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    for (const std::int64_t kernel : {1, 3, 5, 7}) {
      const std::int64_t halo = kernel / 2;
      const std::vector<Sent> sent = sent_by_each({3, 4, kernel, 1, halo}, WidthsOf(static_cast<std::size_t>(size), 4));
      CAPTURE(size);
      CAPTURE(kernel);
      for (int rank = 0; rank < size; ++rank) {
        const std::int64_t num_sides = halo > 0 ? (rank > 0 ? 1 : 0) + (rank + 1 < size ? 1 : 0) : 0;
        const Sent& each = sent[static_cast<std::size_t>(rank)];
        CHECK(each.forward_messages == num_sides);
        CHECK(each.forward_bytes == num_sides * halo * 2 * 3 * 6 * 4);
        CHECK(each.messages == 2 * num_sides);
        CHECK(each.bytes == 2 * num_sides * halo * 2 * 3 * 6 * 4);
      }
    }
  }
}

TEST_CASE("cost: slices narrower than the halo go to every rank that needs them, once") {
  const std::vector<Sent> sent = sent_by_each({3, 4, 7, 1, 3}, WidthsOf(8, 1));
  for (int rank = 0; rank < 8; ++rank) {
    const std::int64_t num_peers = std::min(rank, 3) + std::min(7 - rank, 3);
    CHECK(sent[static_cast<std::size_t>(rank)].forward_messages == num_peers);
    CHECK(sent[static_cast<std::size_t>(rank)].bytes == 2 * num_peers * 2 * 3 * 6 * 4);
  }
}

TEST_CASE("cost: with stride 2 and even widths, columns go to the right only") {
  // Output j is computed from columns 2j - 1 to 2j + 1.
  const std::vector<Sent> sent = sent_by_each({3, 4, 3, 2, 1}, {4, 4, 4, 4});
  for (std::size_t rank = 0; rank < 4; ++rank) CHECK(sent[rank].forward_messages == (rank < 3 ? 1 : 0));
}

/// Peak bytes on the last rank of a forward pass without gradients that owns its input.
std::int64_t bound_peak(const Conv2dOptions& options, int size, std::int64_t width) {
  const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
    const c10::NoGradGuard no_grad;
    SeededWeights weights(1);
    const ParallelConv2d conv(Weights(weights), options, comm);
    MemoryScope scope;
    const WidthsOf widths(static_cast<std::size_t>(size), width);
    WidthShard x = {at::zeros({1, options.in_channels, 64, width}).contiguous(at::MemoryFormat::ChannelsLast), widths};
    scope.reset_peak();
    const WidthShard out = conv.forward(std::move(x));
    return TensorMap{{"peak", at::tensor(scope.reading().peak_bytes)}};
  });
  REQUIRE_FALSE(outcome.failure);
  return outcome.ranks.back().tensors.at("peak").item<std::int64_t>();
}

TEST_CASE("memory: without gradients never more than two pictures, except for the halo and the kernel's own copy") {
  constexpr std::int64_t kColumn = 32 * 64 * 4;  // bytes
  constexpr std::int64_t kKernel = 32 * 32 * 9 * 4;
  CHECK(bound_peak({32, 32}, 1, 64) <= (64 + 64) * kColumn + 2 * kKernel);
  CHECK(bound_peak({32, 32}, 3, 64) <= (64 + 66 + 2) * kColumn + 2 * kKernel);
  CHECK(bound_peak(pointwise(32, 32), 3, 64) <= (64 + 64) * kColumn + 2 * kKernel);
}

TEST_CASE("a channels-last picture stays one") {
  const auto outcome = launch::run_ranks(threads(2), [&](Communicator& comm) {
    SeededWeights weights(1);
    const at::Tensor x = exact_values({2, 3, 6, 8}, at::kFloat, 1);
    const ParallelConv2d conv(Weights(weights), {3, 4}, comm);
    return TensorMap{{"out", conv.forward(split_width(x, comm.rank(), comm.size())).columns.detach()}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const launch::RankOutcome& rank : outcome.ranks)
    CHECK(rank.tensors.at("out").is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST_CASE("ParallelConv2d: what does not fit is refused on every rank before anything is sent") {
  const auto refused = [](const std::string& text, const WidthShard& x, const Conv2dOptions& options = {3, 4}) {
    check_refused(2, text, [&](Communicator& comm) {
      SeededWeights weights(1);
      ParallelConv2d(Weights(weights), options, comm).forward(x);
    });
  };
  refused("expected the widths of 2 ranks, got 3: [4, 4, 4]", {at::ones({2, 3, 5, 4}), {4, 4, 4}});
  refused("expected columns of shape [B, 3, H, 4], got float32 [2, 3, 5, 3]; widths: [4, 4]",
          {at::ones({2, 3, 5, 3}), {4, 4}});
  refused("expected columns of shape [B, 3, H, 4], got float32 [2, 2, 5, 4]", {at::ones({2, 2, 5, 4}), {4, 4}});
  refused("got float32 [3, 5, 4]", {at::ones({3, 5, 4}), {4, 4}});
  refused("got undefined tensor", {at::Tensor(), {4, 4}});
  refused("at least 5 columns with 2 of padding, got 4", {at::ones({2, 3, 5, 2}), {2, 2}}, {3, 4, 7, 1, 1});
}

}  // namespace
}  // namespace lab::vae
