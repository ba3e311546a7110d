#include "optC_model_parallel/model/parallel/strategies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/api/collectives.h"
#include "common/api/communicator.h"
#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/base/text.h"
#include "common/pipeline/generators.h"
#include "optC_model_parallel/gpipe.h"
#include "optC_model_parallel/model/optimizer.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"
#include "optC_model_parallel/model/parallel/stages.h"
#include "optC_model_parallel/model/training.h"
#include "optC_model_parallel/models.h"
#include "optC_model_parallel/parallel_layers.h"
#include "optC_model_parallel/pipedream.h"
#include "optC_model_parallel/strategy.h"

namespace lab::optc {
namespace {

/// An option's value that must be one of a list.
void check_word(const char* option, const std::string& word, const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), word) != words.end()) return;
  throw UsageError(fmt::format("{} {}: expected one of {} for a pipeline{}", option, word, fmt::join(words, ", "),
                               did_you_mean(word, words)));
}

int num_layers(const std::string& model) {
  return static_cast<int>(model_named(model).layers.size());
}

/// For a command with --model; otherwise names a command that could train it.
std::string deeper_model(int num_stages, bool has_model_option) {
  for (const std::string& other : pipeline_model_names()) {
    if (num_layers(other) < num_stages) continue;
    return fmt::format("{}--model {}{} has {} layers", has_model_option ? "" : "`pipeline ", other,
                       has_model_option ? "" : "`", num_layers(other));
  }
  return "fewer ranks or chunks";
}

void check_layers(const std::string& model, int num_ranks, int num_chunks, bool has_model_option) {
  const int num_stages = num_ranks * num_chunks, layers = num_layers(model);
  if (num_stages <= layers) return;
  throw UsageError(
      fmt::format("{}model {}: expected at least one layer for each of the {} stages ({} ranks with {} "
                  "chunks each), got {} layers; hint: {}",
                  has_model_option ? "--" : "", model, num_stages, num_ranks, num_chunks, layers,
                  deeper_model(num_stages, has_model_option)));
}

void check_micro_batches(const PipelineOptions& pipeline, int num_ranks) {
  const std::int64_t m = pipeline.num_micro_batches;
  if (m < 1) throw UsageError(fmt::format("--micro-batches {}: expected at least 1", m));
  if (pipeline.schedule == "interleaved" && m % num_ranks != 0)
    throw UsageError(
        fmt::format("--micro-batches {}: interleaved expects a multiple of {}, the number of ranks; hint: "
                    "--micro-batches {}",
                    m, num_ranks, (m / num_ranks + 1) * num_ranks));
  if (pipeline.schedule == "pipedream-2bw" && m < num_ranks)
    throw UsageError(
        fmt::format("--micro-batches {}: pipedream-2bw expects at least {}, the number of ranks: fewer "
                    "need more than two versions of the weights; hint: --micro-batches {}",
                    m, num_ranks, num_ranks));
}

}  // namespace

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names = {"gpipe",     "1f1b",           "interleaved",
                                                 "pipedream", "pipedream-sync", "pipedream-2bw"};
  return names;
}

bool is_asynchronous(const std::string& schedule) {
  return schedule == "pipedream" || schedule == "pipedream-sync" || schedule == "pipedream-2bw";
}

void check_pipeline(const TrainingOptions& options, const PipelineOptions& pipeline, int num_ranks,
                    bool has_model_option) {
  check_word("--model", options.model, pipeline_model_names());
  check_word("--schedule", pipeline.schedule, schedule_names());
  if (pipeline.num_chunks < 1) throw UsageError(fmt::format("--chunks {}: expected at least 1", pipeline.num_chunks));
  if (pipeline.num_chunks > 1 && pipeline.schedule != "interleaved")
    throw UsageError(fmt::format("--chunks {}: expected 1 with {}; hint: only interleaved has more",
                                 pipeline.num_chunks, pipeline.schedule));
  check_layers(options.model, num_ranks, pipeline.num_chunks, has_model_option);
  check_micro_batches(pipeline, num_ranks);
  if (pipeline.recompute && is_asynchronous(pipeline.schedule))
    throw UsageError(
        fmt::format("--recompute: expected a schedule that does not change weights under way (gpipe, "
                    "1f1b, interleaved), got {}",
                    pipeline.schedule));
}

namespace {

std::vector<ParameterSpec> split_parameters(const ModelSpec& model) {
  std::vector<ParameterSpec> all;
  for (const LayerSpec& layer : model.layers) {
    std::copy_if(layer.parameters.begin(), layer.parameters.end(), std::back_inserter(all),
                 [](const ParameterSpec& spec) { return spec.split_dim >= 0; });
  }
  return all;
}

/// What is split over ranks: features, channels, heads.
std::int64_t num_pieces(const ParameterSpec& spec) {
  return spec.shape[static_cast<std::size_t>(spec.split_dim)] / spec.split_unit;
}

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> all;
  for (std::int64_t divisor = 1; divisor <= number; ++divisor) {
    if (number % divisor == 0) all.push_back(divisor);
  }
  return all;
}

}  // namespace

void check_tensor(const TrainingOptions& options, int num_ranks, bool has_model_option) {
  const std::vector<std::string>& names = tensor_model_names();
  if (std::find(names.begin(), names.end(), options.model) == names.end())
    throw UsageError(
        fmt::format("--model {}: expected one of {} for tensor parallelism", options.model, fmt::join(names, ", ")));
  const std::vector<ParameterSpec> split = split_parameters(model_named(options.model));
  const std::int64_t common = std::accumulate(
      split.begin(), split.end(), std::int64_t{0},
      [](std::int64_t divisor, const ParameterSpec& spec) { return std::gcd(divisor, num_pieces(spec)); });
  for (const ParameterSpec& spec : split) {
    if (num_pieces(spec) % num_ranks == 0) continue;
    throw UsageError(
        fmt::format("{}model {}: {} {} cannot be split evenly over {} ranks along dimension {}{}; hint: {} ranks",
                    has_model_option ? "--" : "", options.model, spec.name, shape_text(spec.shape), num_ranks,
                    spec.split_dim, spec.split_unit == 1 ? "" : fmt::format(" in whole pieces of {}", spec.split_unit),
                    fmt::join(divisors(common), ", ")));
  }
}

Blocks parallel_blocks(Collectives& comm) {
  Blocks blocks;
  blocks.mlp = [&comm](const at::Tensor& x, const Tensors& shards) { return parallel_mlp(x, shards, comm); };
  blocks.norm_mlp = [&comm](const at::Tensor& x, const Tensors& shards) { return parallel_norm_mlp(x, shards, comm); };
  blocks.attention = [&comm](const at::Tensor& x, const Tensors& shards, std::int64_t head_dim) {
    return parallel_attention(x, shards, head_dim, comm);
  };
  blocks.residual = [&comm](const at::Tensor& x, const Tensors& shards, Mode mode) {
    return parallel_residual(x, shards, mode, comm);
  };
  return blocks;
}

namespace {

/// Common base of all training in stages: this rank's layers, and their evaluation. The last rank, which has the last
/// stage, knows losses and logits.
class PipelineTraining : public Strategy {
 public:
  at::Tensor logits(const Images& images, const OnBatch& on_batch = {}) override;
  TensorMap parameters() const override { return learner_.tensors(); }
  TensorMap state() const override { return learner_.state(); }
  void load_state(const TensorMap& state) override { learner_.load_state(state); }

 protected:
  PipelineTraining(StagePlan plan, const TrainingOptions& options, Communicator& comm);

  bool is_last_rank() const { return comm_.rank() == comm_.size() - 1; }

  const StagePlan plan_;
  const at::TensorOptions tensors_;
  Communicator& comm_;
  Learner learner_;

 private:
  /// One batch through all stages, forward only: the logits on the last rank, undefined elsewhere.
  at::Tensor read_answers(const at::Tensor& images) const;
};

PipelineTraining::PipelineTraining(StagePlan plan, const TrainingOptions& options, Communicator& comm)
    : plan_(std::move(plan)),
      tensors_(options.tensors()),
      comm_(comm),
      learner_(layers_of_rank(plan_, comm.rank()),
               first_parameters(layers_of_rank(plan_, comm.rank()), options.seed, tensors_), options.optimizer) {}

at::Tensor PipelineTraining::logits(const Images& images, const OnBatch& on_batch) {
  return batched_logits(
      images, tensors_, [this](const at::Tensor& x) { return read_answers(x); }, on_batch);
}

at::Tensor PipelineTraining::read_answers(const at::Tensor& images) const {
  PointToPoint& p2p = comm_.point_to_point();
  const int p = p2p.size();
  const std::vector<Parameters> weights = by_chunk(plan_, p2p.rank(), learner_.parameters());
  at::Tensor x = images;
  // A batch passes the stages in order: each chunk receives from the stage before and sends to the next.
  for (int chunk = 0; chunk < plan_.num_chunks(); ++chunk) {
    const int stage = plan_.numbers().find_stage(p2p.rank(), chunk);
    if (stage > 0 && p > 1) {
      std::vector<std::int64_t> shape = plan_.out_shape(stage - 1);
      shape.insert(shape.begin(), images.size(0));
      x = at::empty(shape, images.options());
      p2p.recv(x, (p2p.rank() + p - 1) % p, stage);
    }
    x = run_layers(plan_.layers(stage), weights[static_cast<std::size_t>(chunk)], x, Mode::kEvaluation);
    if (stage < plan_.num_stages() - 1 && p > 1) p2p.send(x, (p2p.rank() + 1) % p, stage + 1);
  }
  return is_last_rank() ? x : at::Tensor();
}

class SynchronousPipeline : public PipelineTraining {
 public:
  SynchronousPipeline(const StagePlan& plan, const TrainingOptions& options, const PipelineOptions& pipeline,
                      Communicator& comm)
      : PipelineTraining(plan, options, comm),
        num_micro_batches_(static_cast<int>(pipeline.num_micro_batches)),
        stages_(plan_, learner_.parameters(), pipeline.recompute, comm) {
    if (pipeline.schedule != "gpipe")
      schedule_ = pipeline::make_schedule({pipeline.schedule, plan_.num_ranks, num_micro_batches_, plan_.num_chunks()});
  }

  void train(const Images& images, const EpochBatches& batches, const Slice& steps, const OnLoss& on_loss) override {
    for (std::int64_t step = steps.begin; step < steps.end(); ++step) {
      const MicroBatchData batch(images, {batches.indices(step)}, num_micro_batches_, tensors_);
      stages_.begin(batch);
      pass(stage_buffers(plan_, batch));
      if (is_last_rank()) on_loss(stages_.loss());
      learner_.step();
    }
  }

 private:
  /// Forward and backward.
  void pass(const pipeline::Buffers& buffers) {
    if (schedule_) {
      run_schedule(*schedule_, comm_.point_to_point(), stages_, buffers);
    } else {
      gpipe(stages_, comm_.point_to_point(), num_micro_batches_, buffers);
    }
  }

  const int num_micro_batches_;
  PipelineStages stages_;
  std::optional<pipeline::Schedule> schedule_;  ///< none: the student's own loop
};

class AsynchronousPipeline : public PipelineTraining {
 public:
  AsynchronousPipeline(const StagePlan& plan, const TrainingOptions& options, std::int64_t num_micro_batches,
                       VersionRule find_version, Communicator& comm)
      : PipelineTraining(plan, options, comm),
        num_micro_batches_(num_micro_batches),
        version_of_(std::move(find_version)) {}

  void train(const Images& images, const EpochBatches& batches, const Slice& steps, const OnLoss& on_loss) override {
    if (steps.size == 0) return;
    std::vector<at::Tensor> indices;
    for (std::int64_t step = steps.begin; step < steps.end(); ++step) indices.push_back(batches.indices(step));
    const MicroBatchData data(images, std::move(indices), num_micro_batches_, tensors_);
    const auto count = static_cast<int>(data.num_micro_batches());
    StashedStage stage(plan_, learner_, version_of_, data, on_loss, comm_);
    run_schedule(pipeline::make_schedule({"1f1b", plan_.num_ranks, count}), comm_.point_to_point(), stage,
                 stage_buffers(plan_, data));
  }

 private:
  const std::int64_t num_micro_batches_;
  const VersionRule version_of_;
};

}  // namespace

std::unique_ptr<Strategy> synchronous_pipeline(const StagePlan& plan, const TrainingOptions& options,
                                               const PipelineOptions& pipeline, Communicator& comm) {
  return std::make_unique<SynchronousPipeline>(plan, options, pipeline, comm);
}

std::unique_ptr<Strategy> asynchronous_pipeline(const StagePlan& plan, const TrainingOptions& options,
                                                std::int64_t num_micro_batches, const VersionRule& find_version,
                                                Communicator& comm) {
  return std::make_unique<AsynchronousPipeline>(plan, options, num_micro_batches, find_version, comm);
}

VersionRule version_rule(const PipelineOptions& pipeline, int stage, int num_stages) {
  if (pipeline.schedule == "pipedream")
    return [=](std::int64_t mini_batch) { return pipedream_version(mini_batch, stage, num_stages); };
  if (pipeline.schedule == "pipedream-sync")
    return [=](std::int64_t mini_batch) { return vertical_sync_version(mini_batch, num_stages); };
  if (pipeline.schedule == "pipedream-2bw")
    return [m = pipeline.num_micro_batches](std::int64_t micro_batch) { return pipedream_2bw_version(micro_batch, m); };
  throw ContractError(fmt::format("version_rule: expected a schedule with stale weights, got {}", pipeline.schedule));
}

std::unique_ptr<Strategy> pipeline_parallel(const TrainingOptions& options, const PipelineOptions& pipeline,
                                            Communicator& comm) {
  check_pipeline(options, pipeline, comm.size());
  const StagePlan plan = balanced_plan(model_named(options.model), comm.size(), pipeline.num_chunks);
  if (!is_asynchronous(pipeline.schedule)) return synchronous_pipeline(plan, options, pipeline, comm);
  const std::int64_t per_batch = pipeline.schedule == "pipedream-2bw" ? pipeline.num_micro_batches : 1;
  return asynchronous_pipeline(plan, options, per_batch, version_rule(pipeline, comm.rank(), comm.size()), comm);
}

std::unique_ptr<Strategy> tensor_parallel(const TrainingOptions& options, Communicator& comm) {
  check_tensor(options, comm.size());
  // Every rank draws the whole model, as the single process does, and keeps its shards. All ranks then take whole
  // batches: what is not split is computed on all of them, with the same bits.
  ModelSpec model = model_named(options.model, parallel_blocks(comm.collectives()));
  const Parameters whole = first_parameters(model, options.seed, options.tensors());
  Parameters shards = take_shard(model, whole, comm.rank(), comm.size());
  return whole_batches(options, Learner(std::move(model), std::move(shards), options.optimizer));
}

}  // namespace lab::optc
