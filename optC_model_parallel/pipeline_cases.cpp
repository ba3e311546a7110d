#include "optC_model_parallel/pipeline_cases.h"

#include "optC_model_parallel/pass_cases.h"
#include "optC_model_parallel/pipeline_part_cases.h"
#include "optC_model_parallel/pipeline_training_case.h"
#include "optC_model_parallel/stale_cases.h"

namespace lab::optc {

std::vector<Section> pipeline_sections() {
  return {{"The parts of a pipeline, each by itself.", pipeline_part_cases()},
          {"GPipe: one batch through all stages, beside the whole model in one process.", gpipe_cases()},
          {"A short training in stages, beside the same in one process.", {pipeline_training_case()}},
          {"Other schedules through the same stages.", schedule_cases()},
          {"Weights of several versions: which, and how long they are kept.", version_cases()},
          {"Pipelines that are not drained between batches, beside an emulation in one process.", stale_cases()}};
}

}  // namespace lab::optc
