#include "a5_pipeline/cases.h"

#include "a5_pipeline/part_cases.h"
#include "a5_pipeline/pipeline_cases.h"

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
  std::vector<Case> all;
  for (const auto& sections : {sections_before_comparison(), sections_after_comparison()}) {
    for (const Section& section : sections) all.insert(all.end(), section.cases.begin(), section.cases.end());
  }
  return all;
}

}  // namespace lab::a5
