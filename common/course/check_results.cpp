#include "common/course/check_results.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/course/student_files.h"

namespace lab {
namespace {

TaskProgress::State state_of(const CheckedTask& result) {
  if (result.passed) return TaskProgress::State::kSolved;
  return result.exit_code == static_cast<int>(ExitCode::kNotImplemented) ? TaskProgress::State::kToDo
                                                                         : TaskProgress::State::kWrong;
}

}  // namespace

std::vector<CheckedTask> read_check_results(const std::string& path) {
  std::vector<CheckedTask> results;
  try {
    for (const nlohmann::json& task : nlohmann::json::parse(read_file(path))) {
      results.push_back({task.at("task").get<std::string>(), task.at("passed").get<bool>(),
                         task.at("skipped").get<bool>(), task.at("exit_code").get<int>()});
    }
  } catch (const nlohmann::json::exception& failure) {
    throw UsageError(fmt::format("{}: expected the JSON of a lab's check: {}", path, failure.what()));
  }
  return results;
}

void remember(const std::vector<CheckedTask>& results, const CourseTree& tree, ProgressFile& progress) {
  for (const CheckedTask& result : results) {
    for (const Rubric& lab : tree.labs()) {
      const RubricTask* task = lab.find_task(result.task);
      if (task == nullptr || result.skipped) continue;
      TaskProgress now = progress.of(result.task);
      now.state = state_of(result);
      now.date = today();
      now.fingerprint = fingerprint_of_task(tree, {&lab, task});
      progress.set(result.task, now);
    }
  }
}

}  // namespace lab
