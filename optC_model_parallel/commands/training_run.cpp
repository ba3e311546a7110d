#include "optC_model_parallel/commands/training_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/comm/lone_work.h"
#include "common/log/line_template.h"
#include "common/rank/measured_use.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"
#include "optC_model_parallel/model/parallel/strategies.h"
#include "optC_model_parallel/model/training.h"
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

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

at::Tensor as_one_vector(const TensorMap& tensors) {
  std::vector<at::Tensor> parts;
  for (const auto& named_tensor : tensors) parts.push_back(named_tensor.second.flatten());
  return parts.empty() ? at::empty({0}, at::kDouble) : at::cat(parts);
}

/// The losses of the first steps, with NaN for each missing one.
at::Tensor first_losses(const std::vector<double>& losses, std::int64_t num_steps) {
  std::vector<double> first(static_cast<std::size_t>(num_steps), std::numeric_limits<double>::quiet_NaN());
  std::copy_n(losses.begin(), std::min(first.size(), losses.size()), first.begin());
  return at::tensor(first, at::kDouble);
}

}  // namespace

Comparison compare_parameters(const TensorMap& own, const TensorMap& expected, double relative_norm) {
  for (const auto& [name, tensor] : expected) {
    const auto found = own.find(name);
    if (found == own.end() || found->second.sizes() != tensor.sizes())
      throw ContractError(
          fmt::format("parameter {}: expected it as the reference has it, got none or another shape", name));
  }
  return compare(as_one_vector(own), as_one_vector(expected), {0, kInfinity, relative_norm});
}

Comparison compare_losses(const std::vector<double>& own, const std::vector<double>& expected, double relative) {
  const auto num_steps = static_cast<std::int64_t>(expected.size());
  return compare(first_losses(own, num_steps), first_losses(expected, num_steps), {relative, 0, kInfinity});
}

double largest_loss_difference(const std::vector<double>& own, const std::vector<double>& expected,
                               std::int64_t num_steps) {
  if (num_steps == 0) return 0;
  const at::Tensor reference = first_losses(expected, num_steps);
  return ((first_losses(own, num_steps) - reference) / reference).abs().max().item<double>();
}

TensorMap expected_share(const TrainingRun& run, const TensorMap& own, const TensorMap& reference, int rank,
                         int num_ranks) {
  TensorMap share;
  for (const LayerSpec& layer : model_named(run.training.model).layers) {
    for (const ParameterSpec& spec : layer.parameters) {
      if (run.parallelism == Parallelism::kTensor) {
        share[spec.name] = take_shard(spec, reference.at(spec.name), rank, num_ranks);
      } else if (own.count(spec.name) != 0) {
        share[spec.name] = reference.at(spec.name);
      }
    }
  }
  return share;
}

namespace {

at::Tensor from_doubles(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble);
}

/// Sends the record from `owner` to all ranks. Only its values are sent; all shapes follow from the run.
void share_record(TrainingRecord& record, const TrainingRun& run, const Dataset& data, int owner, Collectives& comm) {
  const TrainingOptions& training = run.training;
  const bool owns = comm.rank() == owner;
  const auto share = [&](const at::Tensor& mine, std::vector<std::int64_t> shape, at::ScalarType dtype) {
    return comm.broadcast(owns ? mine.contiguous() : at::empty(shape, dtype), owner);
  };
  const std::int64_t num_epochs = training.num_epochs;
  const std::int64_t num_steps = num_epochs * num_batches(data.train.size(), training.batch_size);
  record.losses = doubles_in(share(from_doubles(record.losses), {num_steps}, at::kDouble));
  record.test_losses = doubles_in(share(from_doubles(record.test_losses), {num_epochs}, at::kDouble));
  record.accuracies = doubles_in(share(from_doubles(record.accuracies), {num_epochs}, at::kDouble));
  record.parameters.resize(static_cast<std::size_t>(num_epochs));
  for (TensorMap& parameters : record.parameters) {
    for (const LayerSpec& layer : model_named(training.model).layers) {
      for (const ParameterSpec& spec : layer.parameters)
        parameters[spec.name] = share(parameters[spec.name], spec.shape, training.dtype);
    }
  }
  const at::Tensor used =
      share(at::tensor({record.used.flops, record.used.memory.peak_bytes}, at::kLong), {2}, at::kLong);
  record.used = {used[0].item<std::int64_t>(), {used[1].item<std::int64_t>(), 0}, {}};
  if (num_epochs > 0) record.predictions = share(record.predictions, {data.test.size()}, at::kLong);
}

}  // namespace

TrainingRecord train_reference(const TrainingRun& run, const Dataset& data, int num_ranks,
                               const std::function<void()>& report) {
  const std::unique_ptr<Strategy> strategy = reference_strategy(run, num_ranks);
  const std::string label = run.is_stale() ? run.name + " by formula" : run.training.model + " in one process";
  TrainingProgress progress(label, run.training.num_epochs * data.train.size());
  TrainingEvents events;
  events.on_step = [&](std::int64_t num_images, double loss) {
    progress.step(num_images, loss);
    report();
  };
  events.on_batch = report;
  Checkpoints drains({"", run.checkpoint_every, false, ""}, 0, 1);
  TrainingRecord record;
  record.used =
      measured_use_of_one_process([&] { record = run_training(run.training, data, *strategy, &drains, events); });
  return record;
}

std::vector<TrainingRecord> train_references(const std::vector<TrainingRun>& runs, const Dataset& data,
                                             Communicator& comm) {
  std::vector<std::string> keys;  // of distinct references
  std::vector<std::size_t> compute_reference;
  std::vector<TrainingRun> distinct;
  for (const TrainingRun& run : runs) {
    const auto found = std::find(keys.begin(), keys.end(), reference_key(run));
    compute_reference.push_back(static_cast<std::size_t>(found - keys.begin()));
    if (found != keys.end()) continue;
    keys.push_back(reference_key(run));
    distinct.push_back(run);
  }
  const auto owner = [&](std::size_t turn) { return static_cast<int>(turn) % comm.size(); };
  std::vector<TrainingRecord> references(distinct.size());
  comm::work_while_others_wait(comm.collectives(), [&](const comm::ReportProgress& report) {
    for (std::size_t i = 0; i < distinct.size(); ++i) {
      if (owner(i) == comm.rank()) references[i] = train_reference(distinct[i], data, comm.size(), report);
    }
  });
  for (std::size_t i = 0; i < distinct.size(); ++i)
    share_record(references[i], distinct[i], data, owner(i), comm.collectives());
  std::vector<TrainingRecord> of_runs;
  for (const std::size_t reference : compute_reference) of_runs.push_back(references[reference]);
  return of_runs;
}

TrainingProgress::TrainingProgress(const std::string& label, std::int64_t num_images, bool quiet)
    : start_(std::chrono::steady_clock::now()), quiet_(quiet), bar_({label, num_images}) {}

void TrainingProgress::step(std::int64_t num_images, double loss) {
  num_images_ += num_images;
  if (!quiet_) {
    bar_.advance(num_images,
                 fmt::format("loss {:.3f}, {:.0f} images/s", loss, static_cast<double>(num_images_) / seconds()));
  }
}

double TrainingProgress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string TrainingProgress::text() const {
  return log::filled(kSpeedLine, num_images_, seconds(), static_cast<double>(num_images_) / seconds());
}

}  // namespace lab::optc
