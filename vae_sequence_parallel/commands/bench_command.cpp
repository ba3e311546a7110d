#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "common/base/text.h"
#include "common/bench/machine_load.h"
#include "common/bench/median.h"
#include "common/launch/run_ranks.h"
#include "common/launch/supervise/run_directory.h"
#include "common/launch/supervise/run_in_child.h"
#include "common/tensor/peak_memory.h"
#include "vae_sequence_parallel/cases/megabytes.h"
#include "vae_sequence_parallel/commands/commands.h"
#include "vae_sequence_parallel/commands/decoder_runs.h"
#include "vae_sequence_parallel/model/checkpoint.h"
#include "vae_sequence_parallel/model/config.h"
#include "vae_sequence_parallel/model/seeded_weights.h"
#include "vae_sequence_parallel/parallel_autoencoder.h"

namespace lab::vae {
namespace {

struct LoadCost {
  std::int64_t file_bytes = 0;
  std::int64_t held_bytes = 0;  ///< per rank, with the model loaded; without the mapped file
  std::vector<double> seconds;  ///< of each turn, until the last rank has its model
};

TensorMap load_on(const std::string& path, int num_turns, Communicator& comm) {
  std::vector<double> seconds;
  std::int64_t held_bytes = 0;
  for (int turn = 0; turn < num_turns; ++turn) {
    const PeakMemory memory(at::kCPU);
    comm.collectives().barrier();
    const auto start = std::chrono::steady_clock::now();
    const auto model = load_model<ParallelAutoEncoder>(path, at::kCPU, comm);
    comm.collectives().barrier();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    held_bytes = memory.held_bytes();
  }
  return {{"seconds", at::tensor(seconds, at::kDouble)}, {"held_bytes", at::tensor({held_bytes}, at::kLong)}};
}

/// Writes a seeded checkpoint with this config to a temporary file and loads it on several processes at once.
LoadCost run_load(const AutoEncoderConfig& config, int num_ranks, int num_turns) {
  const launch::RunDirectory directory("/var/tmp");
  const std::string path = directory.path() + "/ae.safetensors";
  launch::run_in_child("the checkpoint's writer", [&] {
    SeededWeights weights(42);
    AutoEncoder(Weights(weights), config);
    save_checkpoint(path, weights.made(), config, at::kFloat);
  });
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = num_ranks;
  spec.timeout_seconds = 120;
  const launch::WorldOutcome outcome =
      launch::run_ranks(spec, [&](Communicator& comm) { return load_on(path, num_turns, comm); });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  const TensorMap& first = outcome.ranks.front().tensors;
  LoadCost cost;
  cost.file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  cost.held_bytes = first.at("held_bytes").item<std::int64_t>();
  const at::Tensor seconds = first.at("seconds");
  cost.seconds.assign(seconds.data_ptr<double>(), seconds.data_ptr<double>() + seconds.numel());
  return cost;
}

struct BenchOptions {
  std::string config = "flux";
  std::int64_t size = 256;
  int most_ranks = 2, rounds = 3, load_ranks = 4;
};

ExitCode bench(const BenchOptions& options) {
  DecoderRun run;
  run.config = options.config == "flux" ? flux_config() : small_config();
  run.height = run.width = options.size;

  const MachineLoad load;
  std::vector<double> serial, one, several;
  const auto measure = [&](bool is_serial, int num_ranks, std::vector<double>& seconds) {
    run.serial = is_serial;
    run.num_ranks = num_ranks;
    seconds.push_back(run_decoder(run).seconds.front());
  };
  fmt::print("{:<8} {:>10} {:>10} {:>10} {:>12} {:>12}\n", "round", "serial s", "P = 1 s",
             fmt::format("P = {} s", options.most_ranks), "/ serial", "/ P = 1");
  const auto line = [&](const std::string& name, double of_serial, double of_one, double of_several) {
    fmt::print("{:<8} {:>10.2f} {:>10.2f} {:>10.2f} {:>12.3f} {:>12.3f}\n", name, of_serial, of_one, of_several,
               of_several / of_serial, of_several / of_one);
    std::fflush(stdout);
  };
  for (int round = 0; round < options.rounds; ++round) {
    measure(true, 1, serial);
    measure(false, 1, one);
    measure(false, options.most_ranks, several);
    line(std::to_string(round), serial.back(), one.back(), several.back());
  }
  line("median", median(serial), median(one), median(several));
  if (options.load_ranks > 0) {
    const LoadCost cost = run_load(run.config, options.load_ranks, options.rounds);
    fmt::print("loading {:.1f} MB on {}: {:.2f} s (median), {:.1f} MB held by each\n", megabytes(cost.file_bytes),
               counted(options.load_ranks, "rank"), median(cost.seconds), megabytes(cost.held_bytes));
  }
  fmt::print("{}\n", load.report());
  return ExitCode::kAllMatch;
}

}  // namespace

void bench_command(cli::App& app) {
  auto& options = app.own(BenchOptions());
  app.add_choice("--config", options.config, {"flux", "small"}, "sizes of the decoder");
  app.add_integer("--size", options.size, {8, 8192}, "side of the picture, pixels");
  app.add_integer("--nproc", options.most_ranks, {1, 64},
                  "ranks of the parallel decoding, in addition to serial and P = 1");
  app.add_integer("--rounds", options.rounds, {1, 1000},
                  "each measures everything once, so that all see the same noise");
  app.add_integer("--load-nproc", options.load_ranks, {0, 64}, "ranks that load a checkpoint of this size; 0: none");
  app.set_action([&] { return bench(options); });
}

}  // namespace lab::vae
