#pragma once

#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/graded_lab.h"
#include "common/checks/lab_step.h"
#include "optC_model_parallel/calls/calls.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/model.h"

namespace lab::optc {

/// The checks of the pipeline's tasks, of tensor parallelism's, and of all, in the order of the log.
std::vector<Section> pipeline_sections();
std::vector<Section> tensor_sections();
std::vector<Section> sections();

// What a run does not print, and only `check` and the judge run: other dtypes; sizes at which it shows what a rank
// holds; stages that compute for long, whether they do so at the same time, and hold no more than they must.
std::vector<Case> unprinted_pipeline_cases();
std::vector<Case> unprinted_tensor_cases();

/// All of them.
std::vector<Case> all_cases();

/// For the judge.
GradedLab graded_lab();

// The pipeline's cases.

/// The functions that need no other rank, each by itself; of schedules with stale weights; and in float32.
std::vector<Case> part_cases();
std::vector<Case> version_cases();
Case micro_batch_loss_float32_case();

/// One batch forward and backward through a small model: the loss, the gradients of all weights, and what is sent. GPipe
/// with micro-batches of every kind; 1F1B and interleaved; those that a run does not print, one training among them.
std::vector<Case> gpipe_cases();
std::vector<Case> schedule_cases();
std::vector<Case> unprinted_pass_cases();

/// Some mini-batches through pipelines that are not drained between them: weights and losses, compared with an
/// emulation in one process, and what is sent.
std::vector<Case> stale_cases();

// The other cases.

/// The sum within a region, on exact data; f and g, and all three in other dtypes.
std::vector<Case> function_cases();
std::vector<Case> unprinted_function_cases();

/// Small trainings on generated images, float64, with all of the student's code, compared with the same in one process:
/// losses, weights after each epoch, and the trained model's predictions. In a pipeline; and with split layers.
Case pipeline_training_case();
std::vector<Case> tensor_training_cases();

// What they have in common.

/// A comparison by norm, for sums of float64 values in any order.
Tolerance by_norm(double relative_norm);

/// A case of a function that needs no other rank: by default its results are exact.
Case local_case(const std::string& task, const std::string& name, const Tolerance& tolerance = {0, 0});

/// Random images and labels from the seed, with nothing to learn.
Images random_images(std::int64_t count, std::uint64_t seed);

// What a judged rank is sent of a case's inputs (Case::keep_own_part).

/// Of the images "<prefix>pixels" and "<prefix>labels" the pixels on the first rank, whose stage loads them, and the
/// labels on the last one, whose stage computes the loss. The rest is poisoned: every rank knows how many images there
/// are.
void keep_images_of_ends(const std::string& prefix, const CasePlace& place, TensorMap& inputs);

/// Adds these layers' initial tensors, "weight.<name>".
void add_first_weights(const ModelSpec& layers, std::uint64_t seed, TensorMap& inputs);

/// Adds the order of the images in each epoch, "input.order<epoch>": the same on every rank.
void add_orders(std::int64_t num_images, std::int64_t num_epochs, std::uint64_t seed, TensorMap& inputs);

}  // namespace lab::optc
