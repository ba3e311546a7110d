#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "grading/judge/judging_place.h"

namespace lab::grading {

/// What `mutants` is told, above all about those that are made by rule.
struct GeneratedMutantsOptions {
  PlaceOptions place;
  std::vector<std::string> names;  ///< labs, or written mutants; empty: all
  int sample = 0;                  ///< of each lab; 0: all, or none if `contracts`
  std::uint64_t seed = 7;          ///< of the sample, and of the inputs that the judge draws
  int jobs = 2;
  bool contracts = false;                     ///< those that break a contract; all must be caught
  bool list = false;                          ///< only print them
  bool no_judge = false;                      ///< only the trials
  std::string only;                           ///< "a9:17"
  std::string rows;                           ///< a file of them, as generate.py prints it; empty: it makes them
  std::string result;                         ///< judge one in this process, and leave its verdict there
  std::string tasks;                          ///< of the judge; empty: all
  std::string report;                         ///< a file for all fates as JSON
  double least_check = 95, least_judge = 98;  ///< percent
};

/// Makes mutants by rule, runs them, prints what caught how many and every one that nothing caught.
/// Returns   kMismatch if fewer are caught than expected, or more than a tenth are equivalent
ExitCode judge_generated_mutants(const GeneratedMutantsOptions& options);

}  // namespace lab::grading
