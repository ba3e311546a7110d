#include "optC_model_parallel/cases/reference/single.h"

#include <utility>

#include "optC_model_parallel/model/training.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {

Learner whole_learner(const TrainingOptions& options) {
  ModelSpec model = model_named(options.model);
  Parameters first = first_parameters(model, options.seed, options.tensors());
  return {std::move(model), std::move(first), options.optimizer};
}

std::unique_ptr<Strategy> single_process(const TrainingOptions& options) {
  return whole_batches(options, whole_learner(options));
}

}  // namespace lab::optc
