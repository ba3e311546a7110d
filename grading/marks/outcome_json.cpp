#include "grading/marks/outcome_json.h"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>

#include "common/api/errors.h"
#include "common/checks/verdict_json.h"

namespace lab::grading {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LabOutcome, lab, student, isolation, seed, seconds, hand_in_notes, notes, tasks,
                                   evidence)

std::string outcome_to_json(const LabOutcome& outcome) {
  return nlohmann::json(outcome).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

LabOutcome outcome_from_json(const std::string& text, const std::string& path) {
  try {
    return nlohmann::json::parse(text).get<LabOutcome>();
  } catch (const std::exception& failure) {
    throw UsageError(
        fmt::format("{}: expected the outcome of a grading as JSON, got something else: {}", path, failure.what()));
  }
}

}  // namespace lab::grading
