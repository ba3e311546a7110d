#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/api/communicator.h"
#include "optC_model_parallel/model/training.h"
#include "optC_model_parallel/strategy.h"

namespace lab::optc {

enum class Parallelism { kPipeline, kTensor };

/// One way to train a model on several ranks, and the one-process training that it must equal.
struct TrainingRun {
  std::string name;  ///< "gpipe", "pair-norm": unique in its log or table
  Parallelism parallelism = Parallelism::kPipeline;
  TrainingOptions training;
  PipelineOptions pipeline;           ///< of pipelines
  std::int64_t checkpoint_every = 0;  ///< steps; a checkpoint drains the pipeline, which changes stale weights

  bool is_stale() const;  ///< its reference uses stale weights, too
};

/// The names that `compare` knows: every schedule, and every model for tensor parallelism.
std::vector<std::string> run_names();

/// The run of that name: interleaved needs a deeper model than the others, and everything else is as in `training` and
/// `pipeline`.
/// Errors    UsageError: an unknown name
TrainingRun run_named(const std::string& name, TrainingOptions training, PipelineOptions pipeline);

/// The usual model of a schedule, or a deeper one where it has fewer layers than there are stages.
std::string usual_model(const PipelineOptions& pipeline, int num_ranks);

/// The optimizer options that the user set; the others keep their defaults.
struct ChosenOptimizer {
  std::optional<std::string> kind;
  std::optional<double> learning_rate;
  std::optional<double> momentum;
};

/// vit's default is Adam with a learning rate of 1e-3, that of all other models is OptimizerOptions{}.
OptimizerOptions optimizer_for(const std::string& model, const ChosenOptimizer& chosen);

/// Errors    UsageError: as check_pipeline() or check_tensor()
void check_run(const TrainingRun& run, int num_ranks, bool has_model_option = true);

std::unique_ptr<Strategy> parallel_strategy(const TrainingRun& run, Communicator& comm);

/// The training in one process that the run must equal.
std::unique_ptr<Strategy> reference_strategy(const TrainingRun& run, int num_ranks);

/// The rank that knows losses and predictions and reports them: in a pipeline that of the last stage; with tensor
/// parallelism all know them, and the first one reports.
int speaker(const TrainingRun& run, int num_ranks);

/// Two runs with the same text have the same reference.
std::string reference_key(const TrainingRun& run);

/// The options that determine a training's numbers, as text: "tutorial, float64, seed 42, ...".
std::string describe(const TrainingOptions& training);

}  // namespace lab::optc
