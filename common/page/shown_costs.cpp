#include "common/page/shown_costs.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace lab::page {
namespace {

using Figure = std::int64_t CaseFigures::*;
struct Kind {
  Figure figure;
  const char* name;  ///< in JSON
  const char* what;
};
constexpr Kind kKinds[] = {{&CaseFigures::model_time_ps, "model_time_ps", "model time"},
                           {&CaseFigures::bytes_sent, "bytes_sent", "bytes sent"},
                           {&CaseFigures::peak_bytes, "peak_tensor_bytes", "peak bytes of tensors"},
                           {&CaseFigures::flops, "flops", "floating-point operations"}};

std::string text_of_time(std::int64_t picoseconds) {
  const auto time = static_cast<double>(picoseconds);
  if (time < 1e9) return fmt::format("{:.4g} us", time * 1e-6);
  if (time < 1e12) return fmt::format("{:.4g} ms", time * 1e-9);
  return fmt::format("{:.4g} s", time * 1e-12);
}

/// With a space before every three digits.
std::string text_of_count(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), " ");
  return text;
}

}  // namespace

std::vector<ShownCost> shown_costs(const CaseFigures& used, const CaseFigures& most) {
  std::vector<ShownCost> costs;
  for (const Kind& kind : kKinds) {
    const std::int64_t spent = used.*kind.figure, bound = most.*kind.figure;
    if (bound == CaseFigures::kAny || spent == CaseFigures::kAny) continue;
    const bool is_time = kind.figure == &CaseFigures::model_time_ps;
    costs.push_back({kind.what, is_time ? text_of_time(spent) : text_of_count(spent),
                     is_time ? text_of_time(bound) : text_of_count(bound), spent > bound});
  }
  return costs;
}

nlohmann::json figures_to_json(const CaseFigures& figures) {
  nlohmann::json json = nlohmann::json::object();
  for (const Kind& kind : kKinds) {
    if (figures.*kind.figure != CaseFigures::kAny) json[kind.name] = figures.*kind.figure;
  }
  return json;
}

CaseFigures figures_from_json(const nlohmann::json& json) {
  CaseFigures figures;
  for (const Kind& kind : kKinds) {
    if (json.contains(kind.name)) json.at(kind.name).get_to(figures.*kind.figure);
  }
  return figures;
}

}  // namespace lab::page
