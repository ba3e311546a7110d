#include "vae_sequence_parallel/commands/decoder_runs.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "common/bench/python_compute.h"
#include "common/launch/run_ranks.h"
#include "common/tensor/compute_threads.h"
#include "common/tensor/gpus.h"
#include "common/tensor/peak_memory.h"
#include "common/tensor/seeded.h"
#include "vae_sequence_parallel/commands/steps.h"
#include "vae_sequence_parallel/model/seeded_weights.h"
#include "vae_sequence_parallel/parallel_autoencoder.h"
#include "vae_sequence_parallel/peak_bytes.h"

namespace lab::vae {
namespace {

constexpr std::uint64_t kSeed = 42;

/// Seeded parameters, moved to the decoder's device.
class SeededOnDevice : public WeightSource {
 public:
  explicit SeededOnDevice(at::Device device) : seeded_(kSeed), device_(device) { seeded_.keep_none(); }
  at::Tensor get(const std::string& name, at::IntArrayRef shape) override {
    return seeded_.get(name, shape).to(device_);
  }

 private:
  SeededWeights seeded_;
  const at::Device device_;
};

/// One rank's bytes and seconds: [parameters, activations, resident], [num_turns]. Only a single turn is measured in bytes: the
/// table of the handout's bonus is that of the student's peak_bytes_of(), and timing does not depend on it.
TensorMap measure(const DecoderRun& run, Communicator& comm, at::Device device, const std::function<void()>& decode,
                  std::int64_t parameter_bytes) {
  std::vector<double> seconds;
  const auto turn = [&] {
    comm.collectives().barrier();
    const auto start = std::chrono::steady_clock::now();
    decode();
    comm.collectives().barrier();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  };
  std::int64_t activation_bytes = 0, resident_bytes = 0;
  if (run.num_turns == 1) {
    const PeakResident resident;
    activation_bytes = peak_bytes_of(turn, device);
    resident_bytes = resident.bytes();
  } else {
    for (int i = -1; i < run.num_turns; ++i) turn();
    seconds.erase(seconds.begin());  // the first is not timed
  }
  return {{"bytes", at::tensor({parameter_bytes, activation_bytes, resident_bytes}, at::kLong)},
          {"seconds", at::tensor(seconds, at::kDouble)}};
}

template <class Model, class... Where>
Model make_model(const DecoderRun& run, at::Device device, Where&... where) {
  SeededOnDevice source(device);
  return Model(Weights(source, "decoder"), run.config, where...);
}

TensorMap decode_on(const DecoderRun& run, Communicator& comm) {
  const c10::NoGradGuard no_gradient;
  use_threads(run.threads_per_rank);
  const at::Device device = device_of_rank(run.num_gpus, comm.rank());
  prepare_device(device);
  const std::int64_t factor = run.config.downsampling();
  const at::Tensor z = seeded_randn({1, run.config.z_channels, run.height / factor, run.width / factor}, kSeed)
                           .to(device)
                           .contiguous(at::MemoryFormat::ChannelsLast);
  const PeakMemory of_parameters(device);
  if (run.serial) {
    const auto decoder = make_model<Decoder>(run, device);
    at::Tensor checksum;
    const auto decode = [&] { checksum = decoder.forward(z).cpu().abs().mean(); };
    TensorMap measured = measure(run, comm, device, decode, of_parameters.held_bytes());
    measured["checksum"] = checksum;
    return measured;
  }
  const auto decoder = make_model<ParallelDecoder>(run, device, comm);
  const auto decode = [&] { decoder.forward(split_width(z, comm.rank(), comm.size())).columns.cpu(); };
  return measure(run, comm, device, decode, of_parameters.held_bytes());
}

}  // namespace

DecoderCost run_decoder(const DecoderRun& run) {
  const std::int64_t factor = run.config.downsampling();
  if (run.height % factor != 0 || run.width % factor != 0)
    throw UsageError(
        fmt::format("a picture of {} x {}: expected sides that {} divides", run.width, run.height, factor));
  require_width(run.width / factor, run.num_ranks);
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = run.num_ranks;
  spec.timeout_seconds = run.timeout_seconds;
  spec.careful = false;
  const launch::WorldOutcome outcome =
      launch::run_ranks(spec, [&](Communicator& comm) { return decode_on(run, comm); });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  DecoderCost cost;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    const at::Tensor bytes = rank.tensors.at("bytes"), seconds = rank.tensors.at("seconds");
    cost.parameter_bytes = std::max(cost.parameter_bytes, bytes[0].item<std::int64_t>());
    cost.activation_bytes = std::max(cost.activation_bytes, bytes[1].item<std::int64_t>());
    if (&rank != &outcome.ranks.front()) continue;
    cost.resident_bytes = bytes[2].item<std::int64_t>();
    if (run.serial) cost.checksum = rank.tensors.at("checksum").item<float>();
    cost.seconds.assign(seconds.data_ptr<double>(), seconds.data_ptr<double>() + seconds.numel());
  }
  return cost;
}

}  // namespace lab::vae
