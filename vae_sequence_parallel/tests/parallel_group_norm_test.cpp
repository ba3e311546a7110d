#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "vae_sequence_parallel/cases/case_pictures.h"
#include "vae_sequence_parallel/model/seeded_weights.h"
#include "vae_sequence_parallel/parallel_layers.h"
#include "vae_sequence_parallel/tests/attention_world.h"
#include "vae_sequence_parallel/tests/width_world.h"

namespace lab::vae {
namespace {

using WidthsOf = std::vector<std::int64_t>;

constexpr std::int64_t kGroups = 4;

/// With 8 channels in 4 groups.
WidthTrial norm_trial(const WidthsOf& widths, at::ScalarType dtype, double mean = 0) {
  PictureSetup setup;
  setup.channels = 8;
  setup.height = 9;
  setup.widths = [=](int) { return widths; };
  setup.dtype = dtype;
  setup.mean = mean;
  WidthTrial trial;
  trial.x = make_picture(setup, static_cast<int>(widths.size()), 1);
  trial.widths = widths;
  // LibTorch's own, which shares no code with ours.
  trial.serial = [](const Weights& weights, const at::Tensor& whole) {
    const GroupNorm norm(weights, 8, kGroups);
    return at::group_norm(whole, kGroups, norm.weight, norm.bias, GroupNorm::kEpsilon);
  };
  trial.parallel = [](const Weights& weights, const WidthShard& x, Communicator& comm) {
    return ParallelGroupNorm(weights, 8, comm, kGroups).forward(x);
  };
  return trial;
}

void check_norm_close(const WidthTrial& trial, double tolerance) {
  const TensorMap actual = parallel_results(trial);
  CHECK(actual.size() == 4);
  CHECK(worst_error(actual, serial_results(trial, true)) < tolerance);
}

TEST_CASE("ParallelGroupNorm: output and gradients are the serial ones, on every spread of columns") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    std::vector<WidthsOf> patterns = width_patterns(size);
    for (const std::int64_t total : {8, 13, 37}) patterns.push_back(uneven_sizes(total, size));
    for (const WidthsOf& widths : patterns) {
      CAPTURE(fmt::format("{}", fmt::join(widths, " ")));
      check_norm_close(norm_trial(widths, at::kFloat), 1e-6);
      check_norm_close(norm_trial(widths, at::kDouble), 1e-12);
    }
  }
}

TEST_CASE("ParallelGroupNorm: a mean that is large compared with the deviation costs only float32's own rounding") {
  for (const double ratio : {1.0, 10.0, 100.0, 1000.0}) {
    for (const int size : {1, 3, 8}) {
      CAPTURE(ratio);
      CAPTURE(size);
      check_norm_close(norm_trial(uneven_sizes(37, size), at::kFloat, ratio), 1e-6 + 1e-7 * ratio);
    }
  }
}

TEST_CASE("ParallelGroupNorm: a column that all ranks have comes out bitwise the same, among different ones") {
  // In float64: float32 would round the differences away.
  const at::Tensor same = seeded_randn({2, 32, 5, 1}, 1, at::kDouble) + 3;
  for (const int size : {2, 3, 4, 5, 8}) {
    const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
      const at::Tensor others = comm.rank() + seeded_randn({2, 32, 5, 6}, rank_seed(2, comm.rank()), at::kDouble);
      const at::Tensor columns = at::cat({same, others}, 3).contiguous(at::MemoryFormat::ChannelsLast);
      SeededWeights weights(3, at::kDouble, 0.5);
      const ParallelGroupNorm norm(Weights(weights), 32, comm);
      const WidthShard out = norm.forward({columns, WidthsOf(static_cast<std::size_t>(size), 7)});
      return TensorMap{{"same", out.columns.narrow(3, 0, 1).contiguous()}};
    });
    CAPTURE(size);
    REQUIRE_FALSE(outcome.failure);
    for (const launch::RankOutcome& rank : outcome.ranks)
      CHECK(at::equal(rank.tensors.at("same"), outcome.ranks[0].tensors.at("same")));
  }
}

TEST_CASE("ParallelGroupNorm: a ramp along the width keeps its variance") {
  // Each of 8 ranks sees 1/64 of it, which is what averaging their variances would find.
  const at::Tensor ramp = at::linspace(-1, 1, 64).expand({1, 32, 4, 64});
  const auto outcome = launch::run_ranks(threads(8), [&](Communicator& comm) {
    SeededWeights weights(3);
    const ParallelGroupNorm norm(Weights(weights, "norm"), 32, comm);
    const WidthShard out = norm.forward(split_width(ramp, comm.rank(), comm.size()));
    return TensorMap{{"out", gather_width(out, comm.collectives())}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const launch::RankOutcome& rank : outcome.ranks)
    CHECK(rank.tensors.at("out").square().mean().item<double>() == doctest::Approx(1).epsilon(1e-4));
}

TEST_CASE("cost: one all-gather of 3 doubles per group and picture, backward one of 2, and nothing else") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
      const auto count = [&] {
        const LedgerEntry gathers = get_endpoint(comm).ledger().of("all_gather");
        const LedgerEntry total = get_endpoint(comm).ledger().total();
        return at::tensor({static_cast<std::int64_t>(gathers.calls), static_cast<std::int64_t>(gathers.bytes_sent),
                           static_cast<std::int64_t>(total.calls), static_cast<std::int64_t>(total.bytes_sent)});
      };
      SeededWeights weights(3);
      const ParallelGroupNorm norm(Weights(weights), 64, comm);
      const at::Tensor x = seeded_randn({2, 64, 3, 4}, 1).requires_grad_();
      const WidthShard out = norm.forward({x, WidthsOf(static_cast<std::size_t>(size), 4)});
      const at::Tensor forward = count();
      out.columns.sum().backward();
      return TensorMap{{"forward", forward}, {"both", count()}};
    });
    CAPTURE(size);
    REQUIRE_FALSE(outcome.failure);
    const std::int64_t values = (size - 1) * 2 * 32;
    for (const launch::RankOutcome& rank : outcome.ranks) {
      CHECK(at::equal(rank.tensors.at("forward"),
                      at::tensor({std::int64_t{1}, values * 3 * 8, std::int64_t{1}, values * 3 * 8})));
      CHECK(at::equal(rank.tensors.at("both"),
                      at::tensor({std::int64_t{2}, values * 5 * 8, std::int64_t{2}, values * 5 * 8})));
    }
  }
}

TEST_CASE("ParallelGroupNorm: what does not fit is refused on every rank before anything is sent") {
  const auto refused = [](const std::string& text, const WidthShard& x) {
    check_refused(2, text, [&](Communicator& comm) {
      SeededWeights weights(1);
      ParallelGroupNorm(Weights(weights), 32, comm).forward(x);
    });
  };
  refused("ParallelGroupNorm, rank", {at::ones({1, 64, 3, 4}), {4, 4}});
  refused("expected columns of shape [B, 32, H, 5]", {at::ones({1, 32, 3, 4}), {5, 5}});
  refused("expected the widths of 2 ranks", {at::ones({1, 32, 3, 4}), {4}});
}

}  // namespace
}  // namespace lab::vae
