#pragma once

#include "common/base/costs.h"
#include "common/base/json.h"

// Costs as JSON, for json(x) and json.get<X>(), under the names that a run's `--json` has.
namespace lab {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LedgerEntry, operation, calls, messages, bytes_sent, bytes_received, rounds)

inline void to_json(nlohmann::json& to, const ModelTime& time) {
  to = {{"total", time.total}, {"work", time.work}, {"waiting", time.waiting}, {"overhead", time.overhead}};
}

inline void from_json(const nlohmann::json& from, ModelTime& time) {
  get_field(from.at("total"), time.total);
  get_field(from.at("work"), time.work);
  get_field(from.at("waiting"), time.waiting);
  get_field(from.at("overhead"), time.overhead);
}

inline void to_json(nlohmann::json& to, const ResourceUse& use) {
  to = {{"flops", use.flops},
        {"peak_tensor_bytes", use.memory.peak_bytes},
        {"retained_tensor_bytes", use.memory.retained_bytes},
        {"model_time_ps", use.model_time}};
}

inline void from_json(const nlohmann::json& from, ResourceUse& use) {
  get_field(from.at("flops"), use.flops);
  get_field(from.at("peak_tensor_bytes"), use.memory.peak_bytes);
  get_field(from.at("retained_tensor_bytes"), use.memory.retained_bytes);
  get_field(from.at("model_time_ps"), use.model_time);
}

/// Without what may be any.
inline void to_json(nlohmann::json& to, const CaseFigures& figures) {
  to = nlohmann::json::object();
  const auto put = [&](const char* key, std::int64_t figure) {
    if (figure != CaseFigures::kAny) to[key] = figure;
  };
  put("model_time_ps", figures.model_time_ps);
  put("bytes_sent", figures.bytes_sent);
  put("peak_tensor_bytes", figures.peak_bytes);
  put("flops", figures.flops);
}

inline void from_json(const nlohmann::json& from, CaseFigures& figures) {
  const auto take = [&](const char* key, std::int64_t& figure) {
    figure = CaseFigures::kAny;
    if (from.contains(key)) get_field(from.at(key), figure);
  };
  take("model_time_ps", figures.model_time_ps);
  take("bytes_sent", figures.bytes_sent);
  take("peak_tensor_bytes", figures.peak_bytes);
  take("flops", figures.flops);
}

}  // namespace lab
