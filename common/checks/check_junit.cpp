#include "common/checks/check_junit.h"

#include <nlohmann/json.hpp>

namespace lab {
namespace {

using Outcome = JunitCase::Outcome;

std::string string_in(const nlohmann::json& json, const char* key) {
  return json.value(key, std::string());
}

JunitCase case_of(const std::string& lab, const nlohmann::json& task, const nlohmann::json& check) {
  JunitCase one;
  one.class_name = lab;
  one.name = string_in(task, "task") + ": " + string_in(check, "name");
  if (task.at("todo")) {
    one.outcome = Outcome::kFailed;
    one.message = string_in(task, "message");
  } else if (check.at("skipped")) {
    one.outcome = Outcome::kSkipped;
    one.message = string_in(check, "message");
  } else if (!check.at("passed")) {
    one.outcome = check.at("ended_world") ? Outcome::kError : Outcome::kFailed;
    const std::string likely = string_in(check, "likely");
    one.message = string_in(check, "message") + (likely.empty() ? "" : "; likely: " + likely);
    one.text = string_in(task, "heading") + string_in(task, "task") + ": " + string_in(task, "message") + "\n" +
               string_in(check, "text");
  }
  return one;
}

}  // namespace

JunitSuite junit_suite(const std::string& lab, const std::string& json) {
  JunitSuite suite = {lab, {}};
  for (const nlohmann::json& task : nlohmann::json::parse(json)) {
    for (const nlohmann::json& check : task.at("checks")) suite.cases.push_back(case_of(lab, task, check));
  }
  return suite;
}

}  // namespace lab
