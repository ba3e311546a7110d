#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/case_verdict.h"

namespace lab {

/// One case on all ranks, by rank: what is known when something is wrong. A rank without a result has empty maps.
struct CaseEvidence {
  const Case& test_case;
  int size = 1;
  std::uint64_t seed = 42;
  std::vector<CaseInputs> inputs;
  std::vector<TensorMap> expected, actual;
  std::vector<bool> right;               ///< whether the numbers are right, whatever they cost
  std::vector<std::string> over_budget;  ///< "3 calls of all_gather, expected at most 0"; empty: within bounds
  std::vector<std::string> thrown;       ///< the message that ended the case; empty: it returned
  std::vector<int> thrown_codes;         ///< the exit code of what was thrown; 0: nothing was
};

/// The most specific symptom that explains every wrong rank; nullopt: no known one does.
std::optional<Symptom> find_symptom(const CaseEvidence& evidence);

/// The symptom of a case whose first call is right and a later one is not. No result of one call shows it.
extern const Symptom kRightOnce;

/// kRightOnce's, and every id that find_symptom() can return, except those of the cases' known_mistakes; for tests and
/// tables of solutions.
std::vector<std::string> symptom_ids();

}  // namespace lab
