#pragma once

#include "common/base/costs.h"
#include "common/base/json.h"

// Costs as the JSON of runs has them.
namespace lab {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelTime, total, work, waiting, overhead)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LedgerEntry, operation, calls, messages, bytes_sent, bytes_received, rounds)

inline void to_json(nlohmann::json& to, const ResourceUse& use) {
  to = {{"flops", use.flops}, {"peak_tensor_bytes", use.peak_bytes}, {"model_time_ps", use.model_time}};
}

inline void from_json(const nlohmann::json& from, ResourceUse& use) {
  from.at("flops").get_to(use.flops);
  from.at("peak_tensor_bytes").get_to(use.peak_bytes);
  from.at("model_time_ps").get_to(use.model_time);
}

}  // namespace lab
