#pragma once

#include <cstdint>
#include <string>

#include "common/checks/case.h"
#include "optC_model_parallel/model.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/training.h"

namespace lab::optc {

// The inputs of cases that train a pipeline.

/// Random images and labels from the seed, with nothing to learn.
Images random_images(std::int64_t count, std::uint64_t seed);

/// Which model goes through the pipeline, and in what it is computed.
struct TrialModel {
  std::int64_t long_layers = 0;  ///< of each stage of a long_plan(); 0: an uneven_plan()
  at::ScalarType dtype = at::kDouble;
};

/// Options, images, and the weights of plan_of_trial(), which follow from the place's seed.
CaseInputs pipeline_inputs(const PipelineOptions& options, const Images& images, const CasePlace& place,
                           const TrialModel& trial = {});

// What a judged rank is sent of a case's inputs (Case::keep_own_part).

/// Of the images "<prefix>pixels" and "<prefix>labels" the pixels on the first rank, whose stage loads them, and the
/// labels on the last one, whose stage computes the loss. The rest is poisoned: every rank knows how many images there
/// are.
void keep_images_of_ends(const std::string& prefix, const CasePlace& place, TensorMap& inputs);

/// Of the tensors "weight.<name>" those of these layers.
void keep_weights(const ModelSpec& layers, TensorMap& inputs);

/// Adds these layers' initial tensors, "weight.<name>".
void add_first_weights(const ModelSpec& layers, std::uint64_t seed, TensorMap& inputs);

/// Adds the order of the images in each epoch, "input.order<epoch>": the same on every rank.
void add_orders(std::int64_t num_images, std::int64_t num_epochs, std::uint64_t seed, TensorMap& inputs);

}  // namespace lab::optc
