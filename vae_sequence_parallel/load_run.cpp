#include "vae_sequence_parallel/load_run.h"

#include <c10/core/GradMode.h>

#include <chrono>
#include <filesystem>

#include "common/launch/run_directory.h"
#include "common/launch/run_in_child.h"
#include "common/launch/run_ranks.h"
#include "common/tensor/peak_memory.h"
#include "vae_sequence_parallel/checkpoint.h"
#include "vae_sequence_parallel/parallel_autoencoder.h"
#include "vae_sequence_parallel/seeded_weights.h"

namespace lab::vae {
namespace {

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

}  // namespace

LoadCost run_load(const AutoEncoderConfig& config, int num_ranks, int num_turns) {
  const RunDirectory directory("/var/tmp");
  const std::string path = directory.path() + "/ae.safetensors";
  run_in_child("the checkpoint's writer", [&] {
    SeededWeights weights(42);
    AutoEncoder(Weights(weights), config);
    save_checkpoint(path, weights.made(), config, at::kFloat);
  });
  WorldSpec spec;
  spec.kind = WorldKind::kProcesses;
  spec.num_ranks = num_ranks;
  spec.timeout_seconds = 120;
  const WorldOutcome outcome = run_ranks(spec, [&](Communicator& comm) { return load_on(path, num_turns, comm); });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->sentence);
  const TensorMap& first = outcome.ranks.front().tensors;
  LoadCost cost;
  cost.file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  cost.held_bytes = first.at("held_bytes").item<std::int64_t>();
  const at::Tensor seconds = first.at("seconds");
  cost.seconds.assign(seconds.data_ptr<double>(), seconds.data_ptr<double>() + seconds.numel());
  return cost;
}

}  // namespace lab::vae
