#include "common/course/combined_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/task_progress.h"

namespace lab {
namespace {

using State = TaskProgress::State;

/// The tasks of one lab, or of all.
class Counts {
 public:
  void add(State state) { ++numbers_[state]; }
  void add(const Counts& other) {
    for (const auto& [state, number] : other.numbers_) numbers_[state] += number;
  }
  int of(State state) const {
    const auto found = numbers_.find(state);
    return found == numbers_.end() ? 0 : found->second;
  }

  /// "1 of 8 tasks solved, 6 still to do, 1 wrong"
  std::string text() const {
    int all = 0;
    for (const auto& [state, number] : numbers_) all += number;
    std::string text = fmt::format("{} of {} tasks solved", of(State::kSolved), all);
    if (of(State::kToDo) > 0) text += fmt::format(", {} still to do", of(State::kToDo));
    if (of(State::kWrong) > 0) text += fmt::format(", {} wrong", of(State::kWrong));
    if (of(State::kUnknown) > 0) text += fmt::format(", {} not checked", of(State::kUnknown));
    return text;
  }

 private:
  std::map<State, int> numbers_;
};

}  // namespace

TestSummary summarize(const CourseTree& tree, const CombinedResults& results) {
  std::map<std::string, State> states;
  for (const CheckedTask& task : results.tasks()) states[task.task] = task.state();
  TestSummary summary;
  Counts all;
  for (const Rubric& lab : tree.labs()) {
    Counts counts;
    std::vector<std::string> wrong;
    for (const RubricTask& task : lab.tasks) {
      const auto result = states.extract(task.id);
      counts.add(result.empty() ? State::kUnknown : result.mapped());
      if (!result.empty() && result.mapped() == State::kWrong) wrong.push_back(task.id);
    }
    all.add(counts);
    summary.text += fmt::format("{}: {}{}\n", lab.lab, counts.text(),
                                wrong.empty() ? "" : fmt::format(": {}", fmt::join(wrong, ", ")));
    for (const CombinedResults::Problem& problem : results.problems()) {
      if (problem.lab == lab.lab) summary.text += fmt::format("  {}\n", problem.what);
    }
  }
  bool is_wrong = all.of(State::kWrong) > 0 || all.of(State::kUnknown) > 0 || !results.problems().empty();
  for (const auto& [task, state] : states) {  // what is left are checks of provided files
    if (state != State::kWrong) continue;
    is_wrong = true;
    summary.text += fmt::format("{} is wrong, and is not one of your tasks: was a provided file changed?\n", task);
  }
  summary.text += all.text() + "\n";
  if (is_wrong)
    summary.exit_code = ExitCode::kMismatch;
  else if (all.of(State::kToDo) > 0)
    summary.exit_code = ExitCode::kNotImplemented;
  return summary;
}

namespace {

namespace fs = std::filesystem;

/// "a9_collectives" of "002-a9_collectives.problem"
std::string find_lab_name(const std::string& file) {
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
    for (const std::string& line : list_lines(read_file(file)))
      problems_.push_back({find_lab_name(file), std::string(without_line_break(line)), printed});
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
