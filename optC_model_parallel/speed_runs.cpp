#include "optC_model_parallel/speed_runs.h"

#include <ATen/ATen.h>

#include <chrono>
#include <memory>

#include "common/launch/one_rank.h"
#include "common/launch/run_ranks.h"
#include "common/report/errors.h"
#include "common/tensor/tensor_map.h"
#include "optC_model_parallel/batches.h"
#include "optC_model_parallel/generated_images.h"
#include "optC_model_parallel/parallel_strategies.h"
#include "optC_model_parallel/single.h"
#include "optC_model_parallel/strategy.h"

namespace lab::optc {
namespace {

TensorMap timed_steps(const SpeedRun& run, Communicator& comm) {
  use_threads(1);
  const std::int64_t batch_size = run.training.batch_size;
  const Images images = generated_images(batch_size, 0, run.training.seed).train;
  const EpochBatches batches(batch_size, batch_size, run.training.seed, 0);
  const std::unique_ptr<Strategy> strategy =
      run.num_stages == 1 ? single_process(run.training) : pipeline_parallel(run.training, run.pipeline, comm);
  const auto step = [&] { strategy->train(images, batches, {0, 1}, [](double) {}); };
  step();  // makes what later steps find: memory, primitives of convolutions, connections
  comm.collectives().barrier();
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < run.num_steps; ++i) step();
  comm.collectives().barrier();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {
      {"images_per_second", at::scalar_tensor(static_cast<double>(run.num_steps * batch_size) / seconds, at::kDouble)}};
}

}  // namespace

double images_per_second(const SpeedRun& run) {
  if (run.num_stages > 1) check_pipeline(run.training, run.pipeline, run.num_stages);
  WorldSpec spec;
  spec.kind = WorldKind::kProcesses;
  spec.num_ranks = run.num_stages;
  spec.timeout_seconds = run.timeout_seconds;
  spec.careful = false;
  const WorldOutcome outcome = run_ranks(spec, [&](Communicator& comm) { return timed_steps(run, comm); });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->sentence);
  return outcome.ranks.front().tensors.at("images_per_second").item<double>();
}

}  // namespace lab::optc
