#include "common/course/test_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

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

TestSummary summary_of(const CourseTree& tree, const CombinedResults& results) {
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
    summary.text += fmt::format("{} is wrong, and is no task of yours: was a provided file changed?\n", task);
  }
  summary.text += all.text() + "\n";
  if (is_wrong)
    summary.exit_code = ExitCode::kMismatch;
  else if (all.of(State::kToDo) > 0)
    summary.exit_code = ExitCode::kNotImplemented;
  return summary;
}

}  // namespace lab
