#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/api/partition.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/tensor/exact_data.h"
#include "common/tensor/meters/memory_meter.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "vae_sequence_parallel/cases/case_pictures.h"
#include "vae_sequence_parallel/model/seeded_weights.h"
#include "vae_sequence_parallel/parallel_autoencoder.h"
#include "vae_sequence_parallel/tests/attention_world.h"
#include "vae_sequence_parallel/tests/width_world.h"

// Modules built from parallel layers, compared with the serial ones.
namespace lab::vae {
namespace {

using WidthsOf = std::vector<std::int64_t>;

at::Tensor picture(std::int64_t channels, std::int64_t height, const WidthsOf& widths, at::ScalarType dtype) {
  PictureSetup setup;
  setup.channels = channels;
  setup.height = height;
  setup.widths = [=](int) { return widths; };
  setup.dtype = dtype;
  return make_picture(setup, static_cast<int>(widths.size()), 1);
}

/// The results of the serial module in float64.
void check_close(const WidthTrial& trial, double tolerance) {
  CHECK(worst_error(parallel_results(trial), serial_results(trial, true)) < tolerance);
}

TEST_CASE("ParallelUpsample: output and gradients to the bit, twice the columns on every rank") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    std::vector<WidthsOf> patterns = width_patterns(size);
    patterns.push_back(uneven_sizes(13, size));
    for (const WidthsOf& widths : patterns) {
      CAPTURE(fmt::format("{}", fmt::join(widths, " ")));
      const at::Tensor x = exact_values({2, 3, 4, compute_total(widths)}, at::kDouble, 3);
      WidthTrial trial = make_trial<Upsample, ParallelUpsample>(x, widths, std::int64_t{3});
      trial.exact = true;
      const TensorMap expected = serial_results(trial), actual = parallel_results(trial);
      CHECK(actual.size() == 4);
      for (const auto& [name, tensor] : expected) CHECK(at::equal(actual.at(name), tensor));
    }
  }
}

TEST_CASE("ParallelUpsample: 2 1 1 1 becomes 4 2 2 2") {
  const auto outcome = launch::run_ranks(threads(4), [](Communicator& comm) {
    SeededWeights weights(1);
    const ParallelUpsample upsample(Weights(weights), 3, comm);
    const WidthShard out = upsample.forward(split_width(at::ones({1, 3, 2, 5}), comm.rank(), comm.size()));
    return TensorMap{{"widths", at::tensor(out.widths)}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const launch::RankOutcome& rank : outcome.ranks)
    CHECK(at::equal(rank.tensors.at("widths"), at::tensor({4, 2, 2, 2}, at::kLong)));
}

TEST_CASE("ParallelResnetBlock: with as many channels as before, and with others") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    std::vector<WidthsOf> patterns = width_patterns(size);
    patterns.push_back(uneven_sizes(13, size));
    for (const WidthsOf& widths : patterns) {
      // To 64: with one channel to a group, a bias before a norm has no effect, and its gradient is all rounding.
      for (const std::int64_t in_channels : {32, 64}) {
        CAPTURE(fmt::format("{} channels, widths {}", in_channels, fmt::join(widths, " ")));
        const auto trial = [&](at::ScalarType dtype) {
          return make_trial<ResnetBlock, ParallelResnetBlock>(picture(in_channels, 3, widths, dtype), widths,
                                                              in_channels, std::int64_t{64});
        };
        check_close(trial(at::kDouble), 1e-12);
        if (size < 4) check_close(trial(at::kFloat), 1e-6);
      }
    }
  }
}

TEST_CASE("ParallelAttnBlock: Ulysses where the heads divide by the ranks, else the ring") {
  for (const int size : {1, 2, 3, 4, 8}) {
    for (const std::int64_t heads : {1, 2, 4}) {
      std::vector<WidthsOf> patterns = width_patterns(size);
      patterns.push_back(uneven_sizes(9, size));
      for (const WidthsOf& widths : patterns) {
        CAPTURE(fmt::format("{} heads, widths {}", heads, fmt::join(widths, " ")));
        check_close(make_trial<AttnBlock, ParallelAttnBlock>(picture(32, 3, widths, at::kDouble), widths,
                                                             std::int64_t{32}, heads),
                    1e-12);
      }
    }
  }
}

TEST_CASE("ParallelAttnBlock: which of the two moves the data shows in the ledger") {
  for (const std::int64_t heads : {1, 2}) {
    const auto outcome = launch::run_ranks(threads(2), [&](Communicator& comm) {
      SeededWeights weights(1);
      const ParallelAttnBlock block(Weights(weights), 32, heads, comm);
      block.forward(split_width(seeded_randn({1, 32, 2, 4}, 1), comm.rank(), comm.size()));
      const comm::Ledger& ledger = get_endpoint(comm).ledger();
      return TensorMap{{"all_to_all", at::tensor(static_cast<std::int64_t>(ledger.of("all_to_all").calls))},
                       {"message", at::tensor(static_cast<std::int64_t>(ledger.of("message").messages))}};
    });
    REQUIRE_FALSE(outcome.failure);
    for (const launch::RankOutcome& rank : outcome.ranks) {
      CHECK((rank.tensors.at("all_to_all").item<std::int64_t>() > 0) == (heads == 2));
      CHECK((rank.tensors.at("message").item<std::int64_t>() > 0) == (heads == 1));
    }
  }
}

AutoEncoderConfig tiny_config(std::int64_t channels = 32) {
  AutoEncoderConfig config;
  config.channels = channels;
  config.channel_multipliers = {1, 2};
  config.num_res_blocks = 1;
  config.z_channels = 4;
  return config;
}

TEST_CASE("ParallelDecoder: output and gradients of all parameters, in float64") {
  for (const int size : {1, 2, 3, 5}) {
    for (const WidthsOf& widths : {uneven_sizes(7, size), width_patterns(size)[1], width_patterns(size)[3]}) {
      CAPTURE(fmt::format("{}", fmt::join(widths, " ")));
      check_close(make_trial<Decoder, ParallelDecoder>(picture(4, 3, widths, at::kDouble), widths, tiny_config(64)),
                  1e-11);
    }
  }
}

TEST_CASE("ParallelDecoder: in float32 as close to float64 as the serial decoder is") {
  for (const int size : {1, 2, 3, 4, 8}) {
    const WidthsOf widths = uneven_sizes(13, size);
    const WidthTrial trial =
        make_trial<Decoder, ParallelDecoder>(picture(4, 6, widths, at::kFloat), widths, tiny_config());
    const TensorMap exact = serial_results(trial, true), serial = serial_results(trial);
    const TensorMap parallel = parallel_results(trial);
    CAPTURE(size);
    const auto error = [&](const TensorMap& results) { return worst_error({{"out", results.at("out")}}, exact); };
    CHECK(worst_error({{"out", parallel.at("out")}}, serial) < 1e-5);
    CHECK(error(parallel) < 2 * error(serial));
  }
}

TEST_CASE("ParallelAutoEncoder: encodes and decodes as AutoEncoder does, every rank gets the whole picture") {
  const at::Tensor x = picture(3, 12, {22}, at::kFloat);
  const AutoEncoderConfig config = tiny_config();
  SeededWeights weights(1);
  const AutoEncoder serial(Weights(weights), config);
  const at::Tensor z = serial.encode(x), expected = serial.decode(z);
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
      SeededWeights same(1);
      const ParallelAutoEncoder parallel(Weights(same), config, comm);
      return TensorMap{{"z", parallel.encode(x)}, {"picture", parallel.decode(z)}};
    });
    CAPTURE(size);
    REQUIRE_FALSE(outcome.failure);
    for (const launch::RankOutcome& rank : outcome.ranks) {
      CHECK(at::equal(rank.tensors.at("z"), z));
      REQUIRE(rank.tensors.at("picture").sizes() == expected.sizes());
      CHECK(compare(rank.tensors.at("picture"), expected).relative_norm < 1e-5);
      CHECK(at::equal(rank.tensors.at("picture"), outcome.ranks[0].tensors.at("picture")));
    }
  }
}

TEST_CASE("ParallelAutoEncoder: has the serial one's parameters, by the same names") {
  SeededWeights serial(1), parallel(1);
  const AutoEncoder made(Weights(serial), tiny_config());
  const auto outcome = launch::run_ranks(threads(1), [&](Communicator& comm) {
    const ParallelAutoEncoder unused(Weights(parallel), tiny_config(), comm);
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  CHECK(parallel.made().size() == serial.made().size());
  for (const auto& [name, tensor] : serial.made()) {
    CAPTURE(name);
    REQUIRE(parallel.made().count(name) == 1);
    CHECK(at::equal(parallel.made().at(name), tensor));
  }
}

TEST_CASE("groups of ranks decode different pictures at the same time") {
  const auto latent = [](std::int64_t group) { return seeded_randn({1, 4, 4, 5 + group}, 3); };
  const auto outcome = launch::run_ranks(threads(5), [&](Communicator& comm) {
    const bool odd = comm.rank() % 2 == 1;
    Communicator members = comm.subgroup(odd ? std::vector<int>{3, 1} : std::vector<int>{2, 0, 4});
    SeededWeights weights(1);
    const ParallelAutoEncoder parallel(Weights(weights), tiny_config(), members);
    return TensorMap{{"picture", parallel.decode(latent(odd ? 1 : 0))}};
  });
  REQUIRE_FALSE(outcome.failure);
  SeededWeights weights(1);
  const AutoEncoder serial(Weights(weights), tiny_config());
  for (std::size_t rank = 0; rank < 5; ++rank) {
    const at::Tensor expected = serial.decode(latent(static_cast<std::int64_t>(rank % 2))).detach();
    CHECK(compare(outcome.ranks[rank].tensors.at("picture"), expected).relative_norm < 1e-5);
  }
}

TEST_CASE("memory: a block without gradients holds three pictures of its width at a time") {
  constexpr std::int64_t kHeight = 96, kWidth = 64;
  const auto outcome = launch::run_ranks(threads(2), [&](Communicator& comm) {
    const c10::NoGradGuard no_grad;
    SeededWeights weights(1);
    const ParallelResnetBlock block(Weights(weights), 32, 32, comm);
    MemoryScope scope;
    WidthShard x = {at::zeros({1, 32, kHeight, kWidth}).contiguous(at::MemoryFormat::ChannelsLast), {kWidth, kWidth}};
    scope.reset_peak();
    const WidthShard out = block.forward(std::move(x));
    return TensorMap{{"peak", at::tensor(scope.reading().peak_bytes)}};
  });
  REQUIRE_FALSE(outcome.failure);
  for (const launch::RankOutcome& rank : outcome.ranks) {
    const double pictures = rank.tensors.at("peak").item<double>() / (32 * kHeight * kWidth * 4);
    CHECK(pictures < 3.2);
  }
}

TEST_CASE("modules: what does not fit is refused on every rank before anything is sent") {
  SeededWeights weights(1);
  const auto latent_refused = [&](const std::string& text, const at::Tensor& z) {
    check_refused(3, text, [&](Communicator& comm) {
      SeededWeights own(1);
      ParallelAutoEncoder(Weights(own), tiny_config(), comm).decode(z);
    });
  };
  latent_refused("at least one column for each of 3 ranks, got float32 [1, 4, 5, 2]", at::ones({1, 4, 5, 2}));
  latent_refused("decode: expected a shape of [B, 4, H, W]", at::ones({1, 3, 5, 4}));
  const auto shard_refused = [&](const std::string& text, const WidthShard& x) {
    check_refused(2, text, [&](Communicator& comm) {
      SeededWeights own(1);
      ParallelAttnBlock(Weights(own), 32, 1, comm).forward(x);
    });
    check_refused(2, text, [&](Communicator& comm) {
      SeededWeights own(1);
      ParallelResnetBlock(Weights(own), 32, 64, comm).forward(x);
    });
    check_refused(2, text, [&](Communicator& comm) {
      SeededWeights own(1);
      ParallelUpsample(Weights(own), 32, comm).forward(x);
    });
  };
  shard_refused("expected the widths of 2 ranks", {at::ones({1, 32, 3, 4}), {4}});
}

}  // namespace
}  // namespace lab::vae
