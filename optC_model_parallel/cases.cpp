#include "optC_model_parallel/cases.h"

#include "optC_model_parallel/pipeline_cases.h"
#include "optC_model_parallel/tensor_cases.h"

namespace lab::optc {

std::vector<Section> sections() {
  std::vector<Section> all = pipeline_sections();
  for (Section& section : tensor_sections()) all.push_back(std::move(section));
  return all;
}

std::vector<Case> all_cases() {
  return cases_of(sections());
}

}  // namespace lab::optc
