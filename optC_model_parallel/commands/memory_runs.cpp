#include "optC_model_parallel/commands/memory_runs.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "common/api/errors.h"
#include "common/api/peak_memory.h"
#include "common/api/tensor_map.h"
#include "common/tensor/compute_threads.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/generated_images.h"
#include "optC_model_parallel/model/parallel/strategies.h"
#include "optC_model_parallel/strategy.h"

namespace lab::optc {
namespace {

/// What RLIMIT_DATA limits: private writable memory, heap and mappings.
/// Source    man 5 proc, man 2 getrlimit
std::uint64_t data_bytes_of_process() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmData:", 0) == 0) return 1024 * std::stoull(line.substr(7));
  }
  throw UsageError("a memory cap: expected VmData in /proc/self/status, got none");
}

void set_data_limit(std::uint64_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = bytes;
  if (::setrlimit(RLIMIT_DATA, &limit) != 0)
    throw UsageError(fmt::format("a memory cap of {} bytes: {}", bytes, std::strerror(errno)));
}

std::uint64_t data_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_DATA, &limit);
  return limit.rlim_cur;
}

constexpr std::int64_t kNumImages = 64;

std::int64_t view_bytes(const TensorMap& tensors) {
  std::int64_t bytes = 0;
  for (const auto& named : tensors) bytes += static_cast<std::int64_t>(named.second.nbytes());
  return bytes;
}

/// A batch of the run's number of micro-batches.
EpochBatches one_batch(const MemoryRun& run) {
  const std::int64_t size = run.pipeline.num_micro_batches * run.micro_batch_size;
  return {at::arange(size).remainder(kNumImages), size};
}

/// Makes the libraries allocate what they keep for the life of the process: threads, OpenBLAS buffers.
void warm_up(MemoryRun run, const Images& images, Communicator& comm) {
  run.pipeline.num_micro_batches = 2 * run.num_stages;
  pipeline_parallel(run.training, run.pipeline, comm)->train(images, one_batch(run), {0, 1}, [](double) {});
}

TensorMap measure_batch(const MemoryRun& run, Communicator& comm) {
  if (run.kind == launch::WorldKind::kProcesses) use_threads(1);
  const Images images = generated_images(kNumImages, 0, run.training.seed).train;
  const EpochBatches batch = one_batch(run);
  warm_up(run, images, comm);
  TrainingOptions training = run.training;
  training.optimizer.momentum = 0;  // its buffers would be made in the first step
  const std::unique_ptr<Strategy> strategy = pipeline_parallel(training, run.pipeline, comm);
  const std::int64_t gradient_bytes = view_bytes(strategy->parameters());
  const PeakMemory memory(at::kCPU);
  std::optional<MemoryCap> cap;
  if (run.cap_bytes > 0) cap.emplace(run.cap_bytes);
  strategy->train(images, batch, {0, 1}, [](double) {});
  return {{"activation_bytes", at::scalar_tensor(memory.peak_bytes() - gradient_bytes, at::kLong)}};
}

/// Raises a failed rank's error. A rank that runs out of memory may report it, or, deep in a library, die by a signal.
[[noreturn]] void raise_failure(const MemoryRun& run, const launch::RankFailure& failure) {
  const auto exit_code = static_cast<ExitCode>(failure.exit_code);
  // LibTorch's own error is about the machine, or counts as student code's if that requested the memory.
  const bool of_memory = exit_code == ExitCode::kStudentCode ||
                         (exit_code == ExitCode::kUsage && failure.message.find("memory") != std::string::npos);
  const bool own_message = !of_memory && failure.exit_code < 128;
  if (run.cap_bytes == 0 || own_message) raise(exit_code, failure.message);
  throw UsageError(fmt::format(
      "--cap {}: {} micro-batches with {} need more than that many MB on top of what was in use before the batch: "
      "{}; hint: {}a larger cap",
      run.cap_bytes / 1'000'000, run.pipeline.num_micro_batches, run.pipeline.schedule, failure.message,
      run.pipeline.schedule == "gpipe" ? "--schedule 1f1b, or " : ""));
}

}  // namespace

MemoryCap::MemoryCap(std::int64_t more_bytes) : limit_before_(data_limit()) {
  set_data_limit(data_bytes_of_process() + static_cast<std::uint64_t>(more_bytes));
}

MemoryCap::~MemoryCap() {
  try {
    set_data_limit(limit_before_);
  } catch (const Error&) {  // restoring the old limit needs no privileges
  }
}

std::vector<std::int64_t> peak_activation_bytes(const MemoryRun& run) {
  check_pipeline(run.training, run.pipeline, run.num_stages);
  launch::WorldSpec spec;
  spec.kind = run.kind;
  spec.num_ranks = run.num_stages;
  spec.timeout_seconds = run.timeout_seconds;
  const launch::WorldOutcome outcome =
      launch::run_ranks(spec, [&](Communicator& comm) { return measure_batch(run, comm); });
  if (outcome.failure) raise_failure(run, *outcome.failure);
  std::vector<std::int64_t> bytes;
  for (const launch::RankOutcome& rank : outcome.ranks)
    bytes.push_back(rank.tensors.at("activation_bytes").item<std::int64_t>());
  return bytes;
}

std::vector<std::int64_t> forecast_activation_bytes(const MemoryRun& run) {
  const std::int64_t few = 4 * run.num_stages, more = 8 * run.num_stages;
  MemoryRun small = run;
  small.cap_bytes = 0;
  small.pipeline.num_micro_batches = few;
  std::vector<std::int64_t> bytes = peak_activation_bytes(small);
  small.pipeline.num_micro_batches = more;
  const std::vector<std::int64_t> with_more = peak_activation_bytes(small);
  for (std::size_t rank = 0; rank < bytes.size(); ++rank)
    bytes[rank] += (with_more[rank] - bytes[rank]) * (run.pipeline.num_micro_batches - few) / (more - few);
  return bytes;
}

}  // namespace lab::optc
