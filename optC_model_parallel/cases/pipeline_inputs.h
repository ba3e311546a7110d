#pragma once

#include <cstdint>

#include "common/checks/case.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/training.h"

// The inputs of cases that train a pipeline.
namespace lab::optc {

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

}  // namespace lab::optc
