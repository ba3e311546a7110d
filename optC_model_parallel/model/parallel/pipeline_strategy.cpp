#include "optC_model_parallel/model/parallel/pipeline_strategy.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "common/api/communicator.h"
#include "common/api/errors.h"
#include "common/pipeline/generators.h"
#include "optC_model_parallel/gpipe.h"
#include "optC_model_parallel/model/parallel/parallel_strategies.h"
#include "optC_model_parallel/model/parallel/pipeline_stages.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"
#include "optC_model_parallel/model/training/batched_logits.h"
#include "optC_model_parallel/model/training/learner.h"
#include "optC_model_parallel/model/training/training_options.h"
#include "optC_model_parallel/models.h"
#include "optC_model_parallel/pipedream.h"
#include "optC_model_parallel/strategy.h"

namespace lab::optc {
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
  at::Tensor answers_of(const at::Tensor& images) const;
};

PipelineTraining::PipelineTraining(StagePlan plan, const TrainingOptions& options, Communicator& comm)
    : plan_(std::move(plan)),
      tensors_(options.tensors()),
      comm_(comm),
      learner_(layers_of_rank(plan_, comm.rank()),
               first_parameters(layers_of_rank(plan_, comm.rank()), options.seed, tensors_), options.optimizer) {}

at::Tensor PipelineTraining::logits(const Images& images, const OnBatch& on_batch) {
  return batched_logits(
      images, tensors_, [this](const at::Tensor& x) { return answers_of(x); }, on_batch);
}

at::Tensor PipelineTraining::answers_of(const at::Tensor& images) const {
  PointToPoint& p2p = comm_.point_to_point();
  const int p = p2p.size();
  const std::vector<Parameters> weights = by_chunk(plan_, p2p.rank(), learner_.parameters());
  at::Tensor x = images;
  for (int chunk = 0; chunk < plan_.num_chunks(); ++chunk) {
    const int stage = plan_.numbers().stage_of(p2p.rank(), chunk);
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
                       VersionRule version_of, Communicator& comm)
      : PipelineTraining(plan, options, comm),
        num_micro_batches_(num_micro_batches),
        version_of_(std::move(version_of)) {}

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
                                                std::int64_t num_micro_batches, const VersionRule& version_of,
                                                Communicator& comm) {
  return std::make_unique<AsynchronousPipeline>(plan, options, num_micro_batches, version_of, comm);
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

}  // namespace lab::optc
