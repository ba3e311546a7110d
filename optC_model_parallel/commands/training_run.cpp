#include "optC_model_parallel/commands/training_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/cli/progress.h"
#include "common/comm/lone_work.h"
#include "common/log/line_template.h"
#include "common/rank/measured_use.h"
#include "common/tensor/files/safetensors.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/model/models.h"
#include "optC_model_parallel/model/parallel/strategies.h"

namespace lab::optc {

bool TrainingRun::is_stale() const {
  return !is_tensor && is_asynchronous(pipeline.schedule);
}

std::string TrainingRun::reference_key() const {
  if (!is_stale()) return describe(training);
  return fmt::format("{}, {} by formula, drained every {} steps", describe(training), pipeline.schedule,
                     checkpoints.every);
}

void TrainingRun::check(int num_ranks) const {
  if (is_tensor) {
    check_tensor(training, num_ranks);
  } else {
    check_pipeline(training, pipeline, num_ranks);
  }
}

std::unique_ptr<Strategy> TrainingRun::parallel_strategy(Communicator& comm) const {
  return is_tensor ? tensor_parallel(training, comm) : pipeline_parallel(training, pipeline, comm);
}

std::unique_ptr<Strategy> TrainingRun::reference_strategy(int num_ranks) const {
  if (!is_stale()) return single_process(training);
  return stale_weights(training, pipeline, balanced_plan(model_named(training.model), num_ranks, 1).stages,
                       whole_learner(training));
}

std::vector<std::string> run_names() {
  std::vector<std::string> names = schedule_names();
  names.insert(names.end(), tensor_model_names().begin(), tensor_model_names().end());
  return names;
}

TrainingRun run_named(const std::string& name, TrainingOptions training, PipelineOptions pipeline) {
  const std::vector<std::string> names = run_names();
  const auto place = std::find(names.begin(), names.end(), name);
  if (place == names.end())
    throw UsageError(fmt::format("expected names of runs among {}, got '{}'", fmt::join(names, " "), name));
  TrainingRun run{name,
                  place >= names.begin() + static_cast<std::ptrdiff_t>(schedule_names().size()),
                  std::move(training),
                  std::move(pipeline),
                  {},
                  ""};
  if (run.is_tensor) {
    run.training.model = name;
    return run;
  }
  run.pipeline.schedule = name;
  run.pipeline.num_chunks = name == "interleaved" ? 2 : 1;
  if (name == "interleaved") run.training.model = "deep";
  return run;
}

std::string usual_model(const PipelineOptions& pipeline, int num_ranks) {
  const std::string usual = run_named(pipeline.schedule, {}, {}).training.model;
  const auto num_stages = static_cast<std::size_t>(num_ranks * pipeline.num_chunks);
  return num_stages <= model_named(usual).layers.size() ? usual : "deep";
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
  std::vector<at::Tensor> parts = {at::empty({0}, at::kDouble)};
  for (const auto& named_tensor : tensors) parts.push_back(named_tensor.second.flatten().to(at::kDouble));
  return at::cat(parts);
}

/// Sends the record from `owner` to all ranks, as the bytes of a file.
void share_record(TrainingRecord& record, int owner, Collectives& comm) {
  std::string file;
  if (comm.rank() == owner) {
    TensorMap tensors = list_tensors(record);
    tensors["used"] = at::tensor({record.used.flops, record.used.memory.peak_bytes}, at::kLong);
    file = to_safetensors(tensors);
  }
  const at::Tensor size = comm.broadcast(at::full({1}, static_cast<std::int64_t>(file.size()), at::kLong), owner);
  file.resize(static_cast<std::size_t>(size.item<std::int64_t>()));
  comm.broadcast(at::from_blob(file.data(), {size.item<std::int64_t>()}, at::kByte), owner);
  TensorMap tensors = from_safetensors(file, "a reference's record").tensors;
  const at::Tensor used = tensors.extract("used").mapped();
  record = make_record(tensors);
  record.used = {used[0].item<std::int64_t>(), {used[1].item<std::int64_t>(), 0}, {}};
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
  std::vector<double> as_many = own;
  as_many.resize(expected.size(), std::numeric_limits<double>::quiet_NaN());
  return compare(at::tensor(as_many, at::kDouble), at::tensor(expected, at::kDouble), {relative, 0, kInfinity});
}

TensorMap expected_share(const TrainingRun& run, const TensorMap& own, const TensorMap& reference, int rank,
                         int num_ranks) {
  if (run.is_tensor) return take_shard(model_named(run.training.model), reference, rank, num_ranks);
  TensorMap share;
  for (const auto& [name, tensor] : reference) {
    if (own.count(name) != 0) share[name] = tensor;
  }
  return share;
}

TrainingRecord train_visibly(const std::string& label, const TrainingOptions& options, const Dataset& data,
                             Strategy& strategy, bool quiet, Checkpoints* checkpoints, TrainingEvents events,
                             std::string* speed) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  std::int64_t num_done = 0;
  cli::Progress bar({label, options.num_epochs * data.train.size()});
  events.on_step = [&, also = events.on_step](std::int64_t num_images, double loss) {
    num_done += num_images;
    if (!quiet)
      bar.advance(num_images,
                  fmt::format("loss {:.3f}, {:.0f} images/s", loss, static_cast<double>(num_done) / seconds()));
    if (also) also(num_images, loss);
  };
  TrainingRecord record = run_training(options, data, strategy, checkpoints, events);
  if (speed != nullptr)
    *speed = log::filled(kSpeedLine, num_done, seconds(), static_cast<double>(num_done) / seconds());
  return record;
}

TrainingRecord train_reference(const TrainingRun& run, const Dataset& data, int num_ranks,
                               const std::function<void()>& report) {
  const std::unique_ptr<Strategy> strategy = run.reference_strategy(num_ranks);
  TrainingEvents events;
  events.on_step = [&](std::int64_t, double) { report(); };
  events.on_batch = report;
  Checkpoints drains({"", run.checkpoints.every, false, ""}, 0, 1);
  const std::string label = (run.is_stale() ? "" : run.training.model + " in ") + run.reference_name();
  TrainingRecord record;
  const ResourceUse used = measured_use_of_one_process(
      [&] { record = train_visibly(label, run.training, data, *strategy, false, &drains, events); });
  record.used = used;
  return record;
}

std::vector<TrainingRecord> train_references(const std::vector<TrainingRun>& runs, const Dataset& data,
                                             Communicator& comm) {
  std::map<std::string, TrainingRecord> references;
  std::vector<const TrainingRun*> distinct;
  for (const TrainingRun& run : runs) {
    if (references.try_emplace(run.reference_key()).second) distinct.push_back(&run);
  }
  const auto owner = [&](std::size_t turn) { return static_cast<int>(turn) % comm.size(); };
  // Each rank trains its turn's references while the others wait; then the owner of each sends it to all.
  comm::work_while_others_wait(comm.collectives(), [&](const comm::ReportProgress& report) {
    for (std::size_t i = 0; i < distinct.size(); ++i) {
      if (owner(i) == comm.rank())
        references[distinct[i]->reference_key()] = train_reference(*distinct[i], data, comm.size(), report);
    }
  });
  for (std::size_t i = 0; i < distinct.size(); ++i)
    share_record(references[distinct[i]->reference_key()], owner(i), comm.collectives());
  std::vector<TrainingRecord> all;
  for (const TrainingRun& run : runs) all.push_back(references.at(run.reference_key()));
  return all;
}

}  // namespace lab::optc
