#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "grading/judge/judging_place.h"

namespace lab::grading {

/// What `solutions` is told.
struct SolutionOptions {
  PlaceOptions place;
  std::vector<std::string> names;  ///< labs, or rows of tables; empty: all
  std::uint64_t seed = 7;          ///< of the sample, and of the inputs that the judge draws
  int jobs = 2, days = 1;
  bool list = false;   ///< only print them
  std::string result;  ///< judge one in this process, and leave its verdict there
  bool quick = false;  ///< without the nightly ones, on fewer numbers of ranks

  bool generated = false;                     ///< those that are made by rule; the others are for these alone
  int sample = 0;                             ///< of each lab; 0: all
  bool no_judge = false;                      ///< only the trials
  std::string only;                           ///< "a9:17"
  std::string rows;                           ///< a file of them, as generate.py prints it; empty: it makes them
  std::string tasks;                          ///< of the judge; empty: all
  std::string report;                         ///< a file for all fates as JSON
  double least_check = 95, least_judge = 98;  ///< percent
};

/// Makes solutions by rule, runs them, prints what caught how many and every one that nothing caught.
/// Returns   kMismatch if fewer are caught than expected, or more than a tenth are equivalent
ExitCode try_generated_solutions(const SolutionOptions& options);

}  // namespace lab::grading
