#include "common/checks/score.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "common/api/errors.h"
#include "common/base/files.h"

namespace lab {
namespace {

/// Whether how it was done can differ between right solutions.
bool is_scored(const CaseVerdict& checked) {
  return checked.passed() && checked.ranks.size() > 1 &&
         (checked.used.bytes_sent > 0 || checked.of_one_process.flops > 0);
}

std::string cell(const std::optional<double>& figure, int digits) {
  return figure ? fmt::format("{:.{}f}", *figure, digits) : "-";
}

}  // namespace

FiguresByCase list_figures(const std::vector<TaskOutcome>& tasks) {
  FiguresByCase figures;
  for (const TaskOutcome& task : tasks) {
    for (const CaseVerdict& checked : task.checks) {
      if (is_scored(checked)) figures[checked.name] = checked.used;
    }
  }
  return figures;
}

std::string text_of_figures(const FiguresByCase& figures) {
  std::string text;
  for (const auto& [name, used] : figures) {
    const nlohmann::json line = {used.model_time_ps, used.bytes_sent, used.peak_bytes, used.flops};
    text += fmt::format("{} {}: {}", text.empty() ? "{" : ",\n ", nlohmann::json(name).dump(), line.dump());
  }
  return text.empty() ? "{}\n" : text + " }\n";
}

FiguresByCase figures_from(const std::string& text) {
  try {
    FiguresByCase figures;
    const auto cases = nlohmann::json::parse(text);
    for (const auto& [name, line] : cases.items()) figures[name] = {line.at(0), line.at(1), line.at(2), line.at(3)};
    return figures;
  } catch (const nlohmann::json::exception&) {
    throw UsageError("expected figures as `check --figures` writes them, a case per line");
  }
}

FiguresByCase load_figures(const std::string& path) {
  try {
    return figures_from(read_file(path));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--score {}: {}", path, error.what()));
  }
}

std::string score_text(const TaskOutcome& task, const FiguresByCase& reference) {
  std::string text;
  for (const CaseVerdict& checked : task.checks) {
    if (!is_scored(checked)) continue;
    const auto known = reference.find(checked.name);
    const auto row = [&](const char* what, std::int64_t CaseFigures::*figure, double scale, int digits) {
      const auto scaled = [&](std::int64_t value) { return static_cast<double>(value) * scale; };
      std::optional<double> of_reference, at_most;
      if (known != reference.end()) of_reference = scaled(known->second.*figure);
      if (checked.limits.*figure != CaseFigures::kAny) at_most = scaled(checked.limits.*figure);
      text += fmt::format("    {:<24} {:>14} {:>14} {:>14}\n", what, cell(scaled(checked.used.*figure), digits),
                          cell(of_reference, digits), cell(at_most, digits));
    };
    text += fmt::format("  {:<26} {:>14} {:>14} {:>14}\n", checked.name, "yours", "reference", "at most");
    row("model time, us", &CaseFigures::model_time_ps, 1e-6, 1);
    row("bytes sent", &CaseFigures::bytes_sent, 1, 0);
    row("peak tensor bytes", &CaseFigures::peak_bytes, 1, 0);
    row("floating-point ops", &CaseFigures::flops, 1, 0);
  }
  return text;
}

}  // namespace lab
