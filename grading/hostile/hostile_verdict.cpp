#include "grading/hostile/hostile_verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/base/text.h"

namespace lab::grading {
namespace {

/// What results.json says.
struct ReadResults {
  std::map<std::string, double> marks;  ///< by item, of those that earned any
  std::string of_task, of_all;          ///< what is said of the entry's task, and of the whole hand-in
  std::string level;
};

ReadResults read_results_json(const std::string& text, const std::string& task) {
  const nlohmann::json json = nlohmann::json::parse(text);
  ReadResults results;
  for (const std::string& line : lines_of(json.at("output").get<std::string>())) {
    if (line.rfind("isolation: ", 0) != 0) results.of_all += line;  // it speaks of limits, whatever happened
  }
  results.level = json.at("extra_data").at("isolation").get<std::string>();
  for (const nlohmann::json& test : json.at("tests")) {
    const auto id = test.at("extra_data").at("id").get<std::string>();
    const double marks = test.value("score", 0.0);
    if (marks != 0) results.marks[id] = marks;
    if (id == task) results.of_task = test.at("output").get<std::string>();
  }
  return results;
}

bool is_clean(const std::string& text) {
  return safe_text(text, std::numeric_limits<std::size_t>::max()) == text;
}

/// What is wrong with the marks; empty: nothing.
std::string complaint_about(const std::map<std::string, double>& marks, const HostileEntry& entry) {
  constexpr double kRounding = 1e-6;
  std::vector<std::string> wrong;
  for (const auto& [id, earned] : marks) {
    const double allowed = id == entry.task ? entry.marks : 0;
    if (std::abs(earned - allowed) > kRounding) wrong.push_back(fmt::format("{} earned {:g} marks", id, earned));
  }
  if (entry.marks != 0 && marks.count(entry.task) == 0) wrong.push_back(entry.task + " earned nothing");
  return fmt::format("{}", fmt::join(wrong, ", "));
}

/// What a reader of the report gets to see that he must not, or does not get to see.
std::vector<std::string> complaints_about_report(const HostileEntry& entry, const ReadResults& results,
                                                 const HostileGrading& grading) {
  std::vector<std::string> complaints;
  const std::string said = results.of_task + "\n" + results.of_all;
  const bool says_it = std::any_of(entry.says.begin(), entry.says.end(),
                                   [&](const std::string& text) { return said.find(text) != std::string::npos; });
  if (!entry.says.empty() && !says_it)
    complaints.push_back(fmt::format("the report does not say {}", fmt::join(entry.says, ", nor ")));
  std::vector<std::string> all = grading.reports;
  all.push_back(grading.results_json);
  for (const std::string& text : all) {
    const std::size_t breach = text.find(kBreach);
    if (breach == std::string::npos) continue;
    complaints.push_back(one_line(text.substr(breach, 100)));
    break;
  }
  if (grading.told_secret) complaints.emplace_back("a secret is told");
  return complaints;
}

}  // namespace

HostileVerdict hostile_verdict(const HostileEntry& entry, bool isolated, const HostileGrading& grading) {
  HostileVerdict verdict;
  verdict.name = entry.name;
  verdict.seconds = grading.seconds;
  const bool may_succeed = !isolated && !entry.at_limits.empty();
  std::vector<std::string> complaints;
  if (!grading.fault.empty()) complaints.push_back(grading.fault);
  if (grading.results_json.empty()) {
    complaints.emplace_back("there is no results.json");
  } else {
    const ReadResults results = read_results_json(grading.results_json, entry.task);
    verdict.level = results.level;
    verdict.found = one_line(results.of_task);
    if (!may_succeed) {
      if (std::string about_marks = complaint_about(results.marks, entry); !about_marks.empty())
        complaints.push_back(std::move(about_marks));
      for (std::string& complaint : complaints_about_report(entry, results, grading))
        complaints.push_back(std::move(complaint));
    }
    if (!is_clean(results.of_task) || !is_clean(results.of_all) ||
        !std::all_of(grading.reports.begin(), grading.reports.end(), is_clean))
      complaints.emplace_back("the report has characters that a terminal may obey");
  }
  complaints.insert(complaints.end(), grading.damage.begin(), grading.damage.end());
  verdict.complaint = one_line(fmt::format("{}", fmt::join(complaints, "; ")));
  verdict.as_required = complaints.empty();
  return verdict;
}

std::string to_json(const HostileVerdict& verdict) {
  const nlohmann::ordered_json json = {{"name", verdict.name},           {"as_required", verdict.as_required},
                                       {"level", verdict.level},         {"found", verdict.found},
                                       {"complaint", verdict.complaint}, {"seconds", verdict.seconds}};
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

HostileVerdict hostile_verdict_from_json(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  return {json.at("name"),  json.at("as_required"), json.at("level"),
          json.at("found"), json.at("complaint"),   json.at("seconds")};
}

}  // namespace lab::grading
