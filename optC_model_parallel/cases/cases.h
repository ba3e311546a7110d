#pragma once

#include <vector>

#include "common/checks/case.h"
#include "common/checks/graded_lab.h"
#include "common/checks/lab_step.h"
#include "optC_model_parallel/calls/calls.h"

namespace lab::optc {

/// A short training in a pipeline, with all of the student's code, compared with the same in one process: the weights
/// after each epoch, the loss of each step, and the trained model's predictions.
Case pipeline_training_case();

/// Some mini-batches through pipelines that are not drained between them: weights and losses, compared with an
/// emulation in one process, and what is sent.
std::vector<Case> stale_cases();

/// PipeDream through stages that compute for long: whether they do so at the same time, and hold no more than they must.
/// Not among the lab's lines.
Case pipedream_long_case();

/// gpipe() and nothing else of the lab.
Case gpipe_alone_case();

/// One batch through stages that compute for long: whether they do so at the same time, and hold no more than they must;
/// and through others in float32. Not among the lab's lines.
std::vector<Case> unprinted_pass_cases();

/// One batch forward and backward through a small model: the loss, the gradients of all weights, and what is sent.
/// GPipe with micro-batches of every kind.
std::vector<Case> gpipe_cases();
/// The same with 1F1B and interleaved.
std::vector<Case> schedule_cases();

/// The checks of tensor parallelism's tasks, in the order of the log.
std::vector<Section> tensor_sections();

/// The checks of the pipeline's tasks, in the order of the log.
std::vector<Section> pipeline_sections();

/// All checks of the lab's tasks, in the order of the log.
std::vector<Section> sections();

/// The cases of all sections, and those that only `check` and the judge run.
std::vector<Case> all_cases();

/// For the judge.
GradedLab graded_lab();

// Each block compared with Blocks in one process: outputs, gradients, running statistics.
std::vector<Case> mlp_cases();
std::vector<Case> norm_mlp_cases();
/// Both of them again, which now may send no more than one round for two layers.
std::vector<Case> column_row_cases();
std::vector<Case> attention_cases();
std::vector<Case> residual_cases();

/// f, g, and the sum within a region, on exact data. Results "out", "x.grad", and "x" and "grad_out" as
/// they are afterwards.
std::vector<Case> function_cases();

/// A linear layer, split by columns and by rows.
std::vector<Case> linear_cases();

/// LayerNorm over features that are split.
std::vector<Case> norm_cases();

// Of these functions and layers what a run does not print: other dtypes, and sizes at which it shows what a rank holds.
std::vector<Case> function_dtype_cases();
std::vector<Case> unprinted_layer_cases();
std::vector<Case> block_float32_cases();

/// A comparison by norm, for sums of float64 values in any order.
Tolerance by_norm(double relative_norm);

/// The functions of a pipeline that need no other rank, each by itself.
std::vector<Case> pipeline_part_cases();

/// The loss in float32. Not among the lab's lines.
Case micro_batch_loss_float32_case();

/// The same for the functions of schedules with stale weights.
std::vector<Case> version_cases();

/// Small trainings on generated images, float64, compared with the same in one process: "losses", "test_losses",
/// "accuracies", "predictions", and after each epoch this rank's tensors, "epoch1.fc1.weight".
std::vector<Case> tensor_training_cases();

}  // namespace lab::optc
