#include "vae_sequence_parallel/commands/decoder_runs.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "common/api/peak_memory.h"
#include "common/launch/run_ranks.h"
#include "common/tensor/compute_threads.h"
#include "common/tensor/gpus.h"
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

/// One rank's bytes: of parameters, and of activations, in one decoding.
TensorMap measure(Communicator& comm, at::Device device, const std::function<void()>& decode,
                  std::int64_t parameter_bytes) {
  const std::int64_t activation_bytes = peak_bytes_of(
      [&] {
        comm.collectives().barrier();
        decode();
        comm.collectives().barrier();
      },
      device);
  return {{"bytes", at::tensor({parameter_bytes, activation_bytes}, at::kLong)}};
}

template <class Model, class... Where>
Model make_model(const DecoderRun& run, at::Device device, Where&... where) {
  SeededOnDevice source(device);
  return Model(Weights(source, "decoder"), run.config, where...);
}

TensorMap decode_on(const DecoderRun& run, Communicator& comm) {
  const c10::NoGradGuard no_gradient;
  use_threads(1);
  const at::Device device = device_of_rank(run.num_gpus, comm.rank());
  prepare_device(device);
  const std::int64_t factor = run.config.downsampling();
  const at::Tensor z = seeded_randn({1, run.config.z_channels, run.height / factor, run.width / factor}, kSeed)
                           .to(device)
                           .contiguous(at::MemoryFormat::ChannelsLast);
  const PeakMemory of_parameters(device);
  if (run.serial) {
    const auto decoder = make_model<Decoder>(run, device);
    const auto decode = [&] { decoder.forward(z).cpu(); };
    return measure(comm, device, decode, of_parameters.held_bytes());
  }
  const auto decoder = make_model<ParallelDecoder>(run, device, comm);
  const auto decode = [&] { decoder.forward(split_width(z, comm.rank(), comm.size())).columns.cpu(); };
  return measure(comm, device, decode, of_parameters.held_bytes());
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
  spec.timeout_seconds = 900;
  spec.careful = false;
  const launch::WorldOutcome outcome =
      launch::run_ranks(spec, [&](Communicator& comm) { return decode_on(run, comm); });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  DecoderCost cost;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    const at::Tensor bytes = rank.tensors.at("bytes");
    cost.parameter_bytes = std::max(cost.parameter_bytes, bytes[0].item<std::int64_t>());
    cost.activation_bytes = std::max(cost.activation_bytes, bytes[1].item<std::int64_t>());
  }
  return cost;
}

}  // namespace lab::vae
