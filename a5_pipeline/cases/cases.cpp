#include "a5_pipeline/cases/cases.h"

namespace lab::a5 {

std::vector<Section> sections_before_comparison() {
  return {{"The parts of the pipeline, each by itself.", part_cases()},
          {"The whole, on small models with uneven stages, beside gradients that were worked out by hand.",
           pipeline_cases()}};
}

std::vector<Section> sections_after_comparison() {
  return {{"The comparisons themselves, on results that are right and wrong.", comparison_cases()},
          {"Beyond the handout: the same through other schedules.", schedule_cases()}};
}

std::vector<Case> all_cases() {
  std::vector<Case> all = list_cases(sections_before_comparison());
  for (const Case& test_case : list_cases(sections_after_comparison())) all.push_back(test_case);
  for (const Case& test_case : other_numbers_of_batches_cases()) all.push_back(test_case);
  all.push_back(long_pipeline_case());
  return all;
}

GradedLab graded_lab() {
  return {all_cases};
}

}  // namespace lab::a5
