#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/bench/machine_load.h"
#include "common/bench/median.h"
#include "common/bench/python_compute.h"
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

/// A checkpoint with the parameters that run_decoder() draws, in a temporary folder.
class SeededCheckpoint {
 public:
  explicit SeededCheckpoint(const AutoEncoderConfig& config) : path_(directory_.path() + "/ae.safetensors") {
    launch::run_in_child("the checkpoint's writer", [&] {
      SeededWeights weights(42);
      AutoEncoder(Weights(weights), config);
      save_checkpoint(path_, weights.made(), config, at::kFloat);
    });
  }
  const std::string& path() const { return path_; }

 private:
  const launch::RunDirectory directory_{"/var/tmp"};
  std::string path_;
};

/// Loads the checkpoint on several processes at once.
LoadCost run_load(const std::string& path, int num_ranks, int num_turns) {
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
  bool no_python = false;
};

/// The serial decoder and Python's, with the same parameters, in turns with the rest.
struct BesidePython {
  std::vector<double> python_seconds, serial_bytes, python_bytes;
  std::vector<double> start_seconds, python_start_seconds;

  void print(double serial_seconds) const {
    fmt::print(
        "serial / Python: {:.3f} of the time ({:.2f} s, {:.2f} s), {:.3f} of the memory ({:.1f} MB, {:.1f} MB); "
        "start {:.2f} s, Python {:.2f} s\n",
        serial_seconds / median(python_seconds), serial_seconds, median(python_seconds),
        median(serial_bytes) / median(python_bytes), median(serial_bytes) / 1e6, median(python_bytes) / 1e6,
        median(start_seconds), median(python_start_seconds));
  }
};

ExitCode bench(const BenchOptions& options) {
  DecoderRun run;
  run.config = options.config == "flux" ? flux_config() : small_config();
  run.height = run.width = options.size;

  const SeededCheckpoint checkpoint(run.config);
  const MachineLoad load;
  std::vector<double> serial, one, several;
  BesidePython beside;
  bool has_python = !options.no_python;
  const auto measure = [&](bool is_serial, int num_ranks, std::vector<double>& seconds) {
    run.serial = is_serial;
    run.num_ranks = num_ranks;
    const DecoderCost cost = run_decoder(run);
    seconds.push_back(cost.seconds.front());
    return cost;
  };
  const auto measure_python = [&](const DecoderCost& ours) {
    const std::vector<std::string> arguments = {"vae", checkpoint.path(), "--size", std::to_string(options.size)};
    const auto theirs = python_compute(arguments), for_memory = python_compute(arguments, {});
    has_python = theirs && for_memory;
    if (!has_python) return;
    if (!(std::abs(theirs->checksum - ours.checksum) <= 1e-3 * std::abs(ours.checksum)))
      throw Error(ExitCode::kMismatch,
                  fmt::format("Python decodes another picture: its mean is {:.6e}, expected {:.6e}", theirs->checksum,
                              ours.checksum));
    beside.python_seconds.push_back(theirs->seconds.front());
    beside.python_bytes.push_back(static_cast<double>(for_memory->peak_bytes));
    beside.serial_bytes.push_back(static_cast<double>(ours.resident_bytes));
    beside.python_start_seconds.push_back(theirs->start_seconds);
    beside.start_seconds.push_back(start_seconds_of(own_program()));
  };
  fmt::print("{:<8} {:>10} {:>10} {:>10} {:>12} {:>12}\n", "round", "serial s", "P = 1 s",
             fmt::format("P = {} s", options.most_ranks), "/ serial", "/ P = 1");
  const auto line = [&](const std::string& name, double of_serial, double of_one, double of_several) {
    fmt::print("{:<8} {:>10.2f} {:>10.2f} {:>10.2f} {:>12.3f} {:>12.3f}\n", name, of_serial, of_one, of_several,
               of_several / of_serial, of_several / of_one);
    std::fflush(stdout);
  };
  for (int round = 0; round < options.rounds; ++round) {
    const DecoderCost of_serial = measure(true, 1, serial);
    if (has_python) measure_python(of_serial);
    measure(false, 1, one);
    measure(false, options.most_ranks, several);
    line(std::to_string(round), serial.back(), one.back(), several.back());
  }
  line("median", median(serial), median(one), median(several));
  if (!beside.python_seconds.empty()) beside.print(median(serial));
  if (options.load_ranks > 0) {
    const LoadCost cost = run_load(checkpoint.path(), options.load_ranks, options.rounds);
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
  app.add_flag("--no-python", options.no_python, "leave out the same decoding in Python's PyTorch");
  app.set_action([&] { return bench(options); });
}

}  // namespace lab::vae
