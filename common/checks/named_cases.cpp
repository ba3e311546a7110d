#include "common/checks/named_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/base/errors.h"
#include "common/base/text.h"

namespace lab {
namespace {

std::string short_id(const std::string& task) {
  return task.substr(task.find('.') + 1);
}

}  // namespace

bool is_named(const Case& test_case, const std::string& name) {
  return name == test_case.name || name == test_case.task || name == short_id(test_case.task);
}

std::vector<Case> named_cases(const std::vector<Case>& cases, const std::string& name, const std::string& word) {
  std::vector<Case> named;
  std::vector<std::string> known;
  for (const Case& test_case : cases) {
    if (is_named(test_case, name)) named.push_back(test_case);
    known.push_back(test_case.name);
    known.push_back(short_id(test_case.task));
  }
  if (!named.empty()) return named;
  const auto meant = nearest(name, known);
  throw UsageError(fmt::format("{} {}: expected the name of a case or of a task, such as {}; got '{}'", word, name,
                               meant ? *meant : known.back(), name));
}

std::vector<Case> cases_of_task(const std::vector<Case>& cases, const std::string& task) {
  std::vector<Case> of_task;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(of_task),
               [&](const Case& test_case) { return test_case.task == task; });
  return of_task;
}

std::vector<std::string> tasks_of(const std::vector<Case>& cases) {
  std::vector<std::string> tasks;
  for (const Case& test_case : cases) {
    if (std::find(tasks.begin(), tasks.end(), test_case.task) == tasks.end()) tasks.push_back(test_case.task);
  }
  return tasks;
}

}  // namespace lab
