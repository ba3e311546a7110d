#include "common/page/shown_costs.h"

#include <fmt/format.h>

#include <iterator>

namespace lab::page {
namespace {

using Figure = std::int64_t CaseFigures::*;
struct Kind {
  Figure figure;
  const char* what;
};
constexpr Kind kKinds[] = {{&CaseFigures::model_time_ps, "model time"},
                           {&CaseFigures::bytes_sent, "bytes sent"},
                           {&CaseFigures::peak_bytes, "peak bytes of tensors"},
                           {&CaseFigures::flops, "floating-point operations"}};

}  // namespace

std::string text_of_time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.4g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} s", seconds);
}

std::string text_of_count(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3)
    text.insert(static_cast<std::size_t>(at), " ");
  return text;
}

std::vector<ShownCost> shown_costs(const CaseFigures& used, const CaseFigures& most) {
  std::vector<ShownCost> costs;
  for (const Kind& kind : kKinds) {
    const std::int64_t spent = used.*kind.figure, bound = most.*kind.figure;
    if (bound == CaseFigures::kAny || spent == CaseFigures::kAny) continue;
    const bool is_time = kind.figure == &CaseFigures::model_time_ps;
    const auto shown = [&](std::int64_t figure) {
      return is_time ? text_of_time(static_cast<double>(figure) * 1e-12) : text_of_count(figure);
    };
    costs.push_back({kind.what, shown(spent), shown(bound), spent > bound});
  }
  return costs;
}

}  // namespace lab::page
