#include "grading/marks/outcome_json.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "common/base/errors.h"
#include "common/page/shown_costs.h"

namespace lab::grading {
namespace {

using Json = nlohmann::ordered_json;

// Names of the states, in the order of their enums.
constexpr const char* kCheckStates[] = {"not run", "passed", "failed", "too expensive", "skipped", "not judged"};
constexpr const char* kTaskStates[] = {"not run", "not implemented", "judged", "not judged"};

template <typename State, std::size_t N>
State state_of(const std::string& text, const char* const (&names)[N]) {
  for (std::size_t i = 0; i < N; ++i) {
    if (text == names[i]) return static_cast<State>(i);
  }
  throw std::runtime_error("unknown state '" + text + "'");
}

Json to_json(const TaskOutcome& task) {
  Json checks = Json::array();
  for (const CheckOutcome& check : task.checks) {
    Json one = {{"name", check.name},
                {"state", kCheckStates[static_cast<int>(check.state)]},
                {"message", check.reason},
                {"symptom", check.symptom_id}};
    if (!check.likely.empty()) one["likely"] = check.likely;
    if (const Json most = page::figures_to_json(check.most); !most.empty()) {
      one["used"] = page::figures_to_json(check.used);
      one["at_most"] = most;
    }
    if (!check.timeline.empty()) one["timeline"] = Json::parse(check.timeline);
    checks.push_back(std::move(one));
  }
  return {{"id", task.id},
          {"state", kTaskStates[static_cast<int>(task.state)]},
          {"message", task.reason},
          {"skipped_because", task.skipped_because},
          {"stand_in", task.stand_in},
          {"checks", checks}};
}

TaskOutcome task_of(const Json& json) {
  TaskOutcome task;
  task.id = json.at("id").get<std::string>();
  task.state = state_of<TaskOutcome::State>(json.at("state").get<std::string>(), kTaskStates);
  task.reason = json.at("message").get<std::string>();
  task.skipped_because = json.at("skipped_because").get<std::string>();
  task.stand_in = json.at("stand_in").get<std::string>();
  for (const Json& check : json.at("checks")) {
    CheckOutcome& read = task.checks.emplace_back();
    read.name = check.at("name").get<std::string>();
    read.state = state_of<CheckOutcome::State>(check.at("state").get<std::string>(), kCheckStates);
    read.reason = check.at("message").get<std::string>();
    read.symptom_id = check.at("symptom").get<std::string>();
    read.likely = check.value("likely", std::string());
    if (check.contains("used")) read.used = page::figures_from_json(check.at("used"));
    if (check.contains("at_most")) read.most = page::figures_from_json(check.at("at_most"));
    if (check.contains("timeline")) read.timeline = check.at("timeline").dump();
  }
  return task;
}

}  // namespace

std::string outcome_to_json(const LabOutcome& outcome) {
  Json tasks = Json::array();
  for (const auto& named : outcome.tasks) tasks.push_back(to_json(named.second));
  Json json = {{"lab", outcome.lab},
               {"isolation", outcome.isolation},
               {"seed", outcome.seed},
               {"seconds", outcome.seconds},
               {"hand_in_notes", outcome.hand_in_notes},
               {"notes", outcome.notes},
               {"tasks", tasks},
               {"evidence", outcome.evidence}};
  if (!outcome.student.empty()) json["student"] = outcome.student;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

LabOutcome outcome_from_json(const std::string& text, const std::string& path) {
  try {
    const Json json = Json::parse(text);
    LabOutcome outcome;
    outcome.lab = json.at("lab").get<std::string>();
    outcome.isolation = json.at("isolation").get<std::string>();
    outcome.seed = json.at("seed").get<std::string>();
    outcome.seconds = json.at("seconds").get<double>();
    outcome.notes = json.at("notes").get<std::vector<std::string>>();
    json.at("hand_in_notes").get_to(outcome.hand_in_notes);
    json.at("evidence").get_to(outcome.evidence);
    outcome.student = json.value("student", std::string());
    for (const Json& task : json.at("tasks")) {
      TaskOutcome read = task_of(task);
      outcome.tasks[read.id] = std::move(read);
    }
    return outcome;
  } catch (const std::exception& failure) {
    throw UsageError(
        fmt::format("{}: expected the outcome of a grading as JSON, got something else: {}", path, failure.what()));
  }
}

}  // namespace lab::grading
