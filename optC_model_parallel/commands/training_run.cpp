#include "optC_model_parallel/commands/training_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/model/parallel/strategies.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool TrainingRun::is_stale() const {
  return parallelism == Parallelism::kPipeline && is_asynchronous(pipeline.schedule);
}

std::vector<std::string> run_names() {
  std::vector<std::string> names = schedule_names();
  names.insert(names.end(), tensor_model_names().begin(), tensor_model_names().end());
  return names;
}

TrainingRun run_named(const std::string& name, TrainingOptions training, PipelineOptions pipeline) {
  TrainingRun run{name, Parallelism::kPipeline, std::move(training), std::move(pipeline), 0};
  if (holds(tensor_model_names(), name)) {
    run.parallelism = Parallelism::kTensor;
    run.training.model = name;
  } else if (holds(schedule_names(), name)) {
    run.pipeline.schedule = name;
    run.pipeline.num_chunks = name == "interleaved" ? 2 : 1;
    if (name == "interleaved") run.training.model = "deep";
  } else {
    throw UsageError(fmt::format("expected names of runs among {}, got '{}'", fmt::join(run_names(), " "), name));
  }
  return run;
}

std::string usual_model(const PipelineOptions& pipeline, int num_ranks) {
  const std::string usual = run_named(pipeline.schedule, {}, {}).training.model;
  const auto num_stages = static_cast<std::size_t>(num_ranks * pipeline.num_chunks);
  return num_stages <= model_named(usual).layers.size() ? usual : "deep";
}

OptimizerOptions optimizer_for(const std::string& model, const ChosenOptimizer& chosen) {
  OptimizerOptions options;
  if (model == "vit" && chosen.kind.value_or("adam") == "adam") options = {"adam", 1e-3, 0};
  options.kind = chosen.kind.value_or(options.kind);
  options.learning_rate = chosen.learning_rate.value_or(options.learning_rate);
  options.momentum = chosen.momentum.value_or(options.momentum);
  return options;
}

void check_run(const TrainingRun& run, int num_ranks, bool has_model_option) {
  if (run.parallelism == Parallelism::kTensor) {
    check_tensor(run.training, num_ranks, has_model_option);
  } else {
    check_pipeline(run.training, run.pipeline, num_ranks, has_model_option);
  }
}

std::unique_ptr<Strategy> parallel_strategy(const TrainingRun& run, Communicator& comm) {
  return run.parallelism == Parallelism::kTensor ? tensor_parallel(run.training, comm)
                                                 : pipeline_parallel(run.training, run.pipeline, comm);
}

std::unique_ptr<Strategy> reference_strategy(const TrainingRun& run, int num_ranks) {
  if (!run.is_stale()) return single_process(run.training);
  return stale_weights(run.training, run.pipeline, balanced_plan(model_named(run.training.model), num_ranks, 1).stages);
}

int speaker(const TrainingRun& run, int num_ranks) {
  return run.parallelism == Parallelism::kTensor ? 0 : num_ranks - 1;
}

std::string reference_key(const TrainingRun& run) {
  if (!run.is_stale()) return describe(run.training);
  return fmt::format("{}, {} by formula, drained every {} steps", describe(run.training), run.pipeline.schedule,
                     run.checkpoint_every);
}

std::string describe(const TrainingOptions& training) {
  const OptimizerOptions& optimizer = training.optimizer;
  const std::string momentum = optimizer.kind == "sgd" ? fmt::format(", momentum {}", optimizer.momentum) : "";
  return fmt::format("{}, {}, seed {}, batches of {}, {} with learning rate {}{}", training.model,
                     dtype_name(training.dtype), training.seed, training.batch_size, optimizer.kind,
                     optimizer.learning_rate, momentum);
}

}  // namespace lab::optc
