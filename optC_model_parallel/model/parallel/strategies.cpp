#include "optC_model_parallel/model/parallel/strategies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/base/text.h"
#include "common/pipeline/generators.h"
#include "common/pipeline/run_schedule.h"
#include "optC_model_parallel/gpipe.h"
#include "optC_model_parallel/model/draws.h"
#include "optC_model_parallel/model/models.h"
#include "optC_model_parallel/parallel_layers.h"
#include "optC_model_parallel/pipedream.h"

namespace lab::optc {
namespace {

/// An option's value that must be one of a list.
void check_word(const char* option, const std::string& word, const std::vector<std::string>& words, const char* use) {
  if (std::find(words.begin(), words.end(), word) != words.end()) return;
  throw UsageError(fmt::format("{} {}: expected one of {} for {}{}", option, word, fmt::join(words, ", "), use,
                               did_you_mean(word, words)));
}

std::size_t num_layers(const std::string& model) {
  return model_named(model).layers.size();
}

void check_layers(const std::string& model, int num_ranks, int num_chunks) {
  const auto num_stages = static_cast<std::size_t>(num_ranks * num_chunks);
  if (num_stages <= num_layers(model)) return;
  std::string hint = "fewer ranks or chunks";
  for (const std::string& other : pipeline_model_names()) {
    if (num_layers(other) >= num_stages)
      hint = fmt::format("`pipeline --model {}` has {} layers", other, num_layers(other));
  }
  throw UsageError(fmt::format(
      "--model {}: expected at least one layer for each of the {} stages ({} ranks with {} chunks each), got "
      "{} layers; hint: {}",
      model, num_stages, num_ranks, num_chunks, num_layers(model), hint));
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
  return schedule.rfind("pipedream", 0) == 0;
}

void check_pipeline(const TrainingOptions& options, const PipelineOptions& pipeline, int num_ranks) {
  check_word("--model", options.model, pipeline_model_names(), "a pipeline");
  check_word("--schedule", pipeline.schedule, schedule_names(), "a pipeline");
  if (pipeline.num_chunks < 1) throw UsageError(fmt::format("--chunks {}: expected at least 1", pipeline.num_chunks));
  if (pipeline.num_chunks > 1 && pipeline.schedule != "interleaved")
    throw UsageError(fmt::format("--chunks {}: expected 1 with {}; hint: only interleaved has more",
                                 pipeline.num_chunks, pipeline.schedule));
  check_layers(options.model, num_ranks, pipeline.num_chunks);
  check_micro_batches(pipeline, num_ranks);
  if (pipeline.recompute && is_asynchronous(pipeline.schedule))
    throw UsageError(
        fmt::format("--recompute: expected a schedule that does not change weights under way (gpipe, "
                    "1f1b, interleaved), got {}",
                    pipeline.schedule));
}

void check_tensor(const TrainingOptions& options, int num_ranks) {
  check_word("--model", options.model, tensor_model_names(), "tensor parallelism");
  std::vector<ParameterSpec> split = parameter_specs(model_named(options.model));
  split.erase(std::remove_if(split.begin(), split.end(), [](const auto& spec) { return spec.split_dim < 0; }),
              split.end());
  // What is split over ranks: features, channels, heads.
  const auto num_pieces = [](const ParameterSpec& spec) {
    return spec.shape[static_cast<std::size_t>(spec.split_dim)] / spec.split_unit;
  };
  std::int64_t common = 0;
  for (const ParameterSpec& spec : split) common = std::gcd(common, num_pieces(spec));
  std::vector<std::int64_t> divisors;
  for (std::int64_t divisor = 1; divisor <= common; ++divisor) {
    if (common % divisor == 0) divisors.push_back(divisor);
  }
  for (const ParameterSpec& spec : split) {
    if (num_pieces(spec) % num_ranks == 0) continue;
    throw UsageError(fmt::format(
        "--model {}: {} {} cannot be split evenly over {} ranks along dimension {}{}; hint: {} ranks", options.model,
        spec.name, shape_text(spec.shape), num_ranks, spec.split_dim,
        spec.split_unit == 1 ? "" : fmt::format(" in whole pieces of {}", spec.split_unit), fmt::join(divisors, ", ")));
  }
}

Blocks parallel_blocks(Collectives& comm) {
  return {[&comm](const auto&... given) { return parallel_mlp(given..., comm); },
          [&comm](const auto&... given) { return parallel_norm_mlp(given..., comm); },
          [&comm](const auto&... given) { return parallel_attention(given..., comm); },
          [&comm](const auto&... given) { return parallel_residual(given..., comm); }};
}

namespace {

Learner learner_of_rank(const StagePlan& plan, const TrainingOptions& options, int rank) {
  const ModelSpec layers = layers_of_rank(plan, rank);
  return {layers, first_parameters(layers, options.seed, options.tensors()), options.optimizer};
}

/// This rank's layers. The last rank, which has the last stage, knows losses and logits.
class PipelineTraining : public LearnerStrategy {
 public:
  PipelineTraining(StagePlan plan, const TrainingOptions& options, const PipelineOptions& pipeline, Communicator& comm)
      : LearnerStrategy(options, learner_of_rank(plan, options, comm.rank())),
        plan_(std::move(plan)),
        pipeline_(pipeline),
        comm_(comm) {}

  void train(const Images& images, const EpochBatches& batches, const Slice& steps, const OnLoss& on_loss) override {
    const bool drains = !is_asynchronous(pipeline_.schedule);
    const bool in_pieces = drains || pipeline_.schedule == "pipedream-2bw";
    std::vector<at::Tensor> next;  // batches between which the pipeline is not drained
    for (std::int64_t step = steps.begin; step < steps.end(); ++step) {
      next.push_back(batches.indices(step));
      if (!drains && step < steps.end() - 1) continue;
      const MicroBatchData data(images, std::exchange(next, {}), in_pieces ? pipeline_.num_micro_batches : 1, tensors_);
      if (drains) {
        train_one(data, on_loss);
      } else {
        StashedStage stage(plan_, learner_, version_rule(pipeline_, comm_.rank(), comm_.size()), data, on_loss, comm_);
        run(stage, "1f1b", data);
      }
    }
  }

 protected:
  /// The batch goes through all stages, forward only.
  at::Tensor evaluate(const at::Tensor& images) override;

 private:
  void train_one(const MicroBatchData& batch, const OnLoss& on_loss) {
    PipelineStages stages(plan_, learner_.parameters(), batch, pipeline_.recompute, comm_);
    if (pipeline_.schedule == "gpipe") {
      gpipe(stages, comm_.point_to_point(), static_cast<int>(batch.num_micro_batches()), stage_buffers(plan_, batch));
    } else {
      run(stages, pipeline_.schedule, batch);
    }
    if (comm_.rank() == comm_.size() - 1) on_loss(stages.loss());
    learner_.step();
  }

  void run(pipeline::StageWork& work, const std::string& schedule, const MicroBatchData& data) {
    const auto count = static_cast<int>(data.num_micro_batches());
    run_schedule(pipeline::make_schedule({schedule, plan_.num_ranks, count, plan_.num_chunks()}),
                 comm_.point_to_point(), work, stage_buffers(plan_, data));
  }

  const StagePlan plan_;
  const PipelineOptions pipeline_;
  Communicator& comm_;
};

at::Tensor PipelineTraining::evaluate(const at::Tensor& images) {
  PointToPoint& p2p = comm_.point_to_point();
  const int p = p2p.size();
  const std::vector<Parameters> weights = by_chunk(plan_, p2p.rank(), learner_.parameters());
  at::Tensor x = images;
  for (int chunk = 0; chunk < plan_.num_chunks(); ++chunk) {
    const int stage = plan_.numbers().find_stage(p2p.rank(), chunk);
    // The rank before sends this stage's input, and the rank after it waits for the output; one rank alone keeps both.
    if (stage > 0 && p > 1) {
      std::vector<std::int64_t> shape = plan_.out_shape(stage - 1);
      shape.insert(shape.begin(), images.size(0));
      x = at::empty(shape, images.options());
      p2p.recv(x, (p2p.rank() + p - 1) % p, stage);
    }
    x = run_layers(plan_.layers(stage), weights[static_cast<std::size_t>(chunk)], x, Mode::kEvaluation);
    if (stage < plan_.num_stages() - 1 && p > 1) p2p.send(x, (p2p.rank() + 1) % p, stage + 1);
  }
  return p2p.rank() == p - 1 ? x : at::Tensor();
}

}  // namespace

VersionRule version_rule(const PipelineOptions& pipeline, int stage, int num_stages) {
  if (pipeline.schedule == "pipedream")
    return [=](std::int64_t mini_batch) { return pipedream_version(mini_batch, stage, num_stages); };
  if (pipeline.schedule == "pipedream-sync")
    return [=](std::int64_t mini_batch) { return vertical_sync_version(mini_batch, num_stages); };
  if (pipeline.schedule == "pipedream-2bw")
    return [m = pipeline.num_micro_batches](std::int64_t micro_batch) { return pipedream_2bw_version(micro_batch, m); };
  throw ContractError(fmt::format("version_rule: expected a schedule with stale weights, got {}", pipeline.schedule));
}

std::unique_ptr<Strategy> pipeline_in_stages(const StagePlan& plan, const TrainingOptions& options,
                                             const PipelineOptions& pipeline, Communicator& comm) {
  return std::make_unique<PipelineTraining>(plan, options, pipeline, comm);
}

std::unique_ptr<Strategy> pipeline_parallel(const TrainingOptions& options, const PipelineOptions& pipeline,
                                            Communicator& comm) {
  check_pipeline(options, pipeline, comm.size());
  return pipeline_in_stages(balanced_plan(model_named(options.model), comm.size(), pipeline.num_chunks), options,
                            pipeline, comm);
}

std::unique_ptr<Strategy> tensor_parallel(const TrainingOptions& options, Communicator& comm) {
  check_tensor(options, comm.size());
  // Every rank draws the whole of each tensor, as the single process does, and keeps its shard. All ranks then take
  // whole batches: what is not split is computed on all of them, with the same bits.
  ModelSpec model = model_named(options.model, parallel_blocks(comm.collectives()));
  const auto draw_shard = [&](const ParameterSpec& spec) {
    return take_shard(spec, draw_parameter(spec, options.seed).to(options.tensors()), comm.rank(), comm.size());
  };
  Parameters shards = make_parameters(model, draw_shard);
  return whole_batches(options, Learner(std::move(model), std::move(shards), options.optimizer));
}

}  // namespace lab::optc
