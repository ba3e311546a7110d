#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "common/base/costs_json.h"
#include "common/checks/case_verdict.h"

// Verdicts as JSON, for json(x) and json.get<X>(). Reading throws nlohmann::json::exception or std::runtime_error, which
// name what is missing or wrong.
namespace lab {

inline void to_json(nlohmann::json& json, Worth worth) {
  json = get_name(worth);
}

inline void from_json(const nlohmann::json& json, Worth& worth) {
  const auto found = std::find(kWorthNames.begin(), kWorthNames.end(), json.get<std::string>());
  if (found == kWorthNames.end()) throw std::runtime_error("unknown state " + json.dump());
  worth = static_cast<Worth>(found - kWorthNames.begin());
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Symptom, id, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankVerdict, end, worth, reason, missing_task, exit_code, used)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CaseVerdict, task, name, worth, reason, symptom, used, limits, timeline, ranks,
                                   of_one_process, failure, failure_code, rank_lines)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TaskOutcome, id, worth, reason, skipped_because, stand_in, checks)

}  // namespace lab
