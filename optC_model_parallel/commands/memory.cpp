#include "optC_model_parallel/commands/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>

#include "common/api/errors.h"
#include "common/api/peak_memory.h"
#include "common/base/numbers.h"
#include "common/tensor/compute_threads.h"
#include "optC_model_parallel/commands/commands.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/models.h"
#include "optC_model_parallel/model/parallel/strategies.h"

namespace lab::optc {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;
constexpr std::int64_t kNumImages = 64;

/// While it lives, this process can use only so much memory beyond what it had at construction: tensors, in whole pages,
/// and everything else, but not what was already free in the heap. RLIMIT_DATA limits private writable memory, heap and
/// mappings.
/// Source    man 5 proc, man 2 getrlimit
class MemoryCap {
 public:
  explicit MemoryCap(std::int64_t more_bytes) {
    ::getrlimit(RLIMIT_DATA, &before_);
    rlimit limit = before_;
    limit.rlim_cur = data_bytes() + static_cast<std::uint64_t>(more_bytes);
    if (::setrlimit(RLIMIT_DATA, &limit) != 0)
      throw UsageError(fmt::format("a memory cap of {} bytes: {}", limit.rlim_cur, std::strerror(errno)));
  }
  ~MemoryCap() { ::setrlimit(RLIMIT_DATA, &before_); }
  MemoryCap(const MemoryCap&) = delete;
  MemoryCap& operator=(const MemoryCap&) = delete;

 private:
  static std::uint64_t data_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("VmData:", 0) == 0) return 1024 * std::stoull(line.substr(7));
    }
    throw UsageError("a memory cap: expected VmData in /proc/self/status, got none");
  }

  rlimit before_{};
};

TensorMap measure_batch(const MemoryRun& run, Communicator& comm) {
  if (run.kind == launch::WorldKind::kProcesses) use_threads(1);
  const Images images = generated_images(kNumImages, 0, run.training.seed).train;
  TrainingOptions training = run.training;
  training.optimizer.momentum = 0;  // its buffers would be made in the first step
  const auto one_batch = [&](const PipelineOptions& pipeline) {
    const std::int64_t size = pipeline.num_micro_batches * run.micro_batch_size;
    return EpochBatches(at::arange(size).remainder(kNumImages), size);
  };
  const OnLoss no_callback = [](double) {};
  // The libraries allocate what they keep for the life of the process: threads, OpenBLAS buffers.
  PipelineOptions few = run.pipeline;
  few.num_micro_batches = 2 * run.num_stages;
  pipeline_parallel(training, few, comm)->train(images, one_batch(few), {0, 1}, no_callback);

  const EpochBatches batch = one_batch(run.pipeline);
  const std::unique_ptr<Strategy> strategy = pipeline_parallel(training, run.pipeline, comm);
  std::int64_t gradient_bytes = 0;
  for (const auto& parameter : strategy->parameters())
    gradient_bytes += static_cast<std::int64_t>(parameter.second.nbytes());
  const PeakMemory memory(at::kCPU);
  std::optional<MemoryCap> cap;
  if (run.cap_megabytes > 0) cap.emplace(run.cap_megabytes * kMegabyte);
  strategy->train(images, batch, {0, 1}, no_callback);
  return {{"activation_bytes", at::scalar_tensor(memory.peak_bytes() - gradient_bytes, at::kLong)}};
}

/// Raises a failed rank's error. A rank that runs out of memory may report it, or, deep in a library, die by a signal.
[[noreturn]] void raise_failure(const MemoryRun& run, const launch::RankFailure& failure) {
  const auto exit_code = static_cast<ExitCode>(failure.exit_code);
  // LibTorch's own error is about the machine, or counts as student code's if that requested the memory.
  const bool of_memory = exit_code == ExitCode::kStudentCode ||
                         (exit_code == ExitCode::kUsage && failure.message.find("memory") != std::string::npos);
  if (run.cap_megabytes == 0 || (!of_memory && failure.exit_code < 128)) raise(exit_code, failure.message);
  throw UsageError(fmt::format(
      "--cap {}: {} micro-batches with {} need more than that many MB on top of what was in use before the batch: "
      "{}; hint: {}a larger cap",
      run.cap_megabytes, run.pipeline.num_micro_batches, run.pipeline.schedule, failure.message,
      run.pipeline.schedule == "gpipe" ? "--schedule 1f1b, or " : ""));
}

double in_megabytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kMegabyte);
}

/// With GPipe all micro-batches of a batch are live at once: prints what that will take before trying it.
/// Errors    UsageError: more than the cap
void forecast(const MemoryRun& run) {
  const std::vector<std::int64_t> ranks = forecast_activation_bytes(run);
  const double most = in_megabytes(*std::max_element(ranks.begin(), ranks.end()));
  const std::int64_t m = run.pipeline.num_micro_batches, cap = run.cap_megabytes;
  const bool fits = cap == 0 || most <= static_cast<double>(cap);
  const std::string verdict =
      cap == 0 ? "" : fmt::format(", {} under the cap of {} MB", fits ? "fits" : "does not fit", cap);
  fmt::print("forecast: {} micro-batches with gpipe take {:.3f} MB on the rank that holds most, {:.3f} MB each{}\n", m,
             most, most / static_cast<double>(m), verdict);
  std::fflush(stdout);
  if (!fits)
    throw UsageError(fmt::format("--cap {}: expected at least {:.0f} MB for {} micro-batches with gpipe; hint: {}", cap,
                                 most + 1, m,
                                 run.pipeline.recompute ? "--schedule 1f1b" : "--recompute, or --schedule 1f1b"));
}

void print_row(const std::string& schedule, const std::string& micro_batches, const std::vector<std::string>& ranks,
               const std::string& change) {
  fmt::print("{:<18} {:>13}", schedule, micro_batches);
  for (const std::string& rank : ranks) fmt::print(" {:>10}", rank);
  fmt::print(" {:>12}\n", change);
  std::fflush(stdout);
}

ExitCode measure_all(MemoryRun run, const std::string& list) {
  const std::vector<std::int64_t> numbers = numbers_in("--micro-batches", list, {1, 1'000'000});
  check_pipeline(run.training, run.pipeline, run.num_stages);
  fmt::print("{}, float32, {} stages, micro-batches of {} images; MB = 10^6 bytes of activations at once, at most\n",
             run.training.model, run.num_stages, run.micro_batch_size);
  std::vector<std::string> head;
  for (int rank = 0; rank < run.num_stages; ++rank) head.push_back(fmt::format("rank {} MB", rank));
  const std::string schedule = run.pipeline.schedule + (run.pipeline.recompute ? " + recompute" : "");
  print_row("schedule", "micro-batches", head, "change");
  std::vector<std::int64_t> first;
  for (const std::int64_t number : numbers) {
    run.pipeline.num_micro_batches = number;
    if (run.pipeline.schedule == "gpipe") forecast(run);
    const std::vector<std::int64_t> bytes = peak_activation_bytes(run);
    if (first.empty()) first = bytes;
    std::vector<std::string> cells;
    double change = 0;  // the largest on any rank, in percent
    for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
      cells.push_back(fmt::format("{:.3f}", in_megabytes(bytes[rank])));
      const double percent = 100 * (static_cast<double>(bytes[rank]) / static_cast<double>(first[rank]) - 1);
      if (std::abs(percent) > std::abs(change)) change = percent;
    }
    print_row(schedule, std::to_string(number), cells, fmt::format("{:+.1f} %", change));
  }
  return ExitCode::kAllMatch;
}

}  // namespace

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
  small.cap_megabytes = 0;
  small.pipeline.num_micro_batches = few;
  std::vector<std::int64_t> bytes = peak_activation_bytes(small);
  small.pipeline.num_micro_batches = more;
  const std::vector<std::int64_t> with_more = peak_activation_bytes(small);
  for (std::size_t rank = 0; rank < bytes.size(); ++rank)
    bytes[rank] += (with_more[rank] - bytes[rank]) * (run.pipeline.num_micro_batches - few) / (more - few);
  return bytes;
}

void memory_command(cli::App& app) {
  auto& list = app.own(std::string("1000,10000"));
  auto& run = app.own(MemoryRun());
  run.training.dtype = at::kFloat;
  run.pipeline.schedule = "1f1b";
  app.add_text("--micro-batches", list, "LIST", "numbers of micro-batches, one batch each");
  app.add_integer("--micro-batch-size", run.micro_batch_size, {1, 65'536}, "images of a micro-batch");
  app.add_choice("--schedule", run.pipeline.schedule, {"gpipe", "1f1b"}, "of the pipeline");
  app.add_flag("--recompute", run.pipeline.recompute, "drop activations, and recompute them in the backward pass");
  app.add_integer("--cap", run.cap_megabytes, {0, 1'000'000},
                  "MB by which a rank's process may grow during the batch, enforced by the kernel; 0: no limit");
  app.add_choice("--model", run.training.model, pipeline_model_names(), "the network to train");
  app.add_integer("--nproc", run.num_stages, {2, 64}, "stages, one process each");
  app.add_seed("--seed", run.training.seed, "of images and weights");
  app.add_timeout(run.timeout_seconds);
  app.set_action([&] { return measure_all(run, list); });
}

}  // namespace lab::optc
