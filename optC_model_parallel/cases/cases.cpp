#include "optC_model_parallel/cases/cases.h"

#include <utility>

namespace lab::optc {
namespace {

std::vector<Case> norm_section() {
  std::vector<Case> all = norm_cases();
  for (Case& test_case : norm_mlp_cases()) all.push_back(std::move(test_case));
  return all;
}

}  // namespace

std::vector<Section> tensor_sections() {
  return {
      {"Communication that autograd understands: what enters and leaves a region that ranks share, and sums within.",
       function_cases()},
      {"A linear layer whose neurons, or whose inputs, are spread over ranks.", linear_cases()},
      {"Linear, relu, linear, both layers spread over ranks.", mlp_cases()},
      {"LayerNorm of features that are spread over ranks, and the pair with it.", norm_section()},
      {"Columns, then rows: one round of communication for the two layers.", column_row_cases()},
      {"Attention whose heads are spread over ranks.", attention_cases()},
      {"A residual block of convolutions whose channels are spread over ranks.", residual_cases()},
      {"Short trainings with split layers, beside the same in one process.", tensor_training_cases()}};
}

std::vector<Section> pipeline_sections() {
  return {{"The parts of a pipeline, each by itself.", pipeline_part_cases()},
          {"GPipe: one batch through all stages, beside the whole model in one process.", gpipe_cases()},
          {"A short training in stages, beside the same in one process.", {pipeline_training_case()}},
          {"Other schedules through the same stages.", schedule_cases()},
          {"Weights of several versions: which, and how long they are kept.", version_cases()},
          {"Pipelines that are not drained between batches, beside an emulation in one process.", stale_cases()}};
}

std::vector<Section> sections() {
  std::vector<Section> all = pipeline_sections();
  for (Section& section : tensor_sections()) all.push_back(std::move(section));
  return all;
}

std::vector<Case> all_cases() {
  std::vector<Case> all = list_cases(sections());
  for (std::vector<Case>& more :
       std::vector<std::vector<Case>>{unprinted_pass_cases(),
                                      function_dtype_cases(),
                                      unprinted_layer_cases(),
                                      block_float32_cases(),
                                      {pipedream_long_case(), micro_batch_loss_float32_case()}}) {
    for (Case& test_case : more) all.push_back(std::move(test_case));
  }
  return with_costly(std::move(all), {"PipelineTraining", "TensorTraining", "TransformerTraining", "ResnetTraining",
                                      "PipeDream2bw", "VerticalSync", "PipeDream", "InterleavedThreeChunks"});
}

GradedLab graded_lab() {
  return {all_cases};
}

}  // namespace lab::optc
