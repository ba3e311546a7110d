#pragma once

#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/lab_main.h"
#include "common/log/log_expectation.h"

namespace lab {

/// Cases that are printed under one heading, the message of rank 0.
struct Section {
  std::string message;
  std::vector<Case> cases;
};

/// The cases of all sections, in order.
std::vector<Case> cases_of(const std::vector<Section>& sections);

/// Prints each section's message and runs its cases; for `run NAME`, only the named cases, without messages.
/// Call      on every rank
void run_sections(RankRun& run, const std::vector<Section>& sections, const CallTable& calls);

/// Expects the lines that run_sections() prints when everything is right. A case with an absolute tolerance stays
/// within it (0 where data are exact); one that is compared by its norm stays within 1e-5, as its data are of order 1
/// or smaller.
void expect_sections(LogExpectation& log, const std::vector<Section>& sections);

}  // namespace lab
