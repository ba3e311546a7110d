#include "common/course/combined_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

/// "a9_collectives" of "002-a9_collectives.problem"
std::string lab_of(const std::string& file) {
  const std::string stem = fs::path(file).stem().string();
  return stem.substr(stem.find('-') + 1);
}

std::vector<JunitCase>& suite_named(const std::string& name, std::vector<JunitSuite>& suites) {
  const auto found =
      std::find_if(suites.begin(), suites.end(), [&](const JunitSuite& suite) { return suite.name == name; });
  return found != suites.end() ? found->cases : suites.emplace_back(JunitSuite{name, {}}).cases;
}

}  // namespace

CombinedResults::CombinedResults(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) files.push_back(entry.path().string());
  if (error) throw UsageError(fmt::format("{}: expected a folder of results: {}", folder, error.message()));
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const std::string kind = fs::path(file).extension().string();
    if (kind == ".json") json_files_.push_back(file);
    if (kind == ".xml") xml_files_.push_back(file);
    if (kind != ".problem") continue;
    const std::string build = fs::path(file).replace_extension(".build").string();
    const std::string printed = fs::exists(build) ? read_file(build) : "";
    for (const std::string& line : lines_of(read_file(file)))
      problems_.push_back({lab_of(file), std::string(without_line_break(line)), printed});
  }
}

std::vector<CheckedTask> CombinedResults::tasks() const {
  std::vector<CheckedTask> tasks;
  for (const std::string& file : json_files_) {
    for (const CheckedTask& task : read_check_results(file)) tasks.push_back(task);
  }
  return tasks;
}

std::string CombinedResults::json() const {
  nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
  for (const std::string& file : json_files_) {
    try {
      for (const nlohmann::ordered_json& task : nlohmann::ordered_json::parse(read_file(file))) tasks.push_back(task);
    } catch (const nlohmann::json::exception& failure) {
      throw UsageError(fmt::format("{}: expected the JSON of a lab's check: {}", file, failure.what()));
    }
  }
  return tasks.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<JunitSuite> CombinedResults::suites() const {
  std::vector<JunitSuite> suites;
  for (const std::string& file : xml_files_) {
    for (JunitSuite& suite : junit_suites(read_file(file), file)) {
      std::vector<JunitCase>& cases = suite_named(suite.name, suites);
      std::move(suite.cases.begin(), suite.cases.end(), std::back_inserter(cases));
    }
  }
  for (const Problem& problem : problems_)
    suite_named(problem.lab, suites)
        .push_back({problem.lab, "lab check", JunitCase::Outcome::kError, problem.what, ""});
  return suites;
}

}  // namespace lab
