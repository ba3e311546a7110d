#include "grading/judge/weak_checks.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace lab::grading {
namespace {

/// Why a check is not enough for marks if it alone is right; empty: it is enough.
class NotEnough {
 public:
  NotEnough(const std::vector<Case>& cases, const CheckedSizes& sizes) : sizes_(sizes) {
    for (const Case& test_case : cases)
      if (test_case.earns_alone && num_sizes(test_case) > 1) on_several_sizes_.insert(test_case.task);
  }

  std::string reason(const Case& test_case) const {
    if (!test_case.earns_alone) return "right, but so is who does nothing: counts only if another check is right";
    if (num_sizes(test_case) > 1 || on_several_sizes_.count(test_case.task) == 0) return "";
    return "right, but judged on one number of ranks only: counts only if a check on several is right";
  }

 private:
  std::ptrdiff_t num_sizes(const Case& test_case) const {
    const std::vector<int> all = sizes_.all();
    return std::count_if(all.begin(), all.end(), [&](int size) {
      return sizes_.include(test_case, size) && skip_reason_of(test_case, size).empty();
    });
  }

  const CheckedSizes& sizes_;
  std::set<std::string> on_several_sizes_;  // tasks with a check that is judged on these
};

}  // namespace

void take_back_weak(const std::vector<Case>& cases, const CheckedSizes& sizes,
                    std::map<std::string, TaskOutcome>& outcomes) {
  using State = CheckOutcome::State;
  const NotEnough not_enough(cases, sizes);
  std::map<std::string, std::vector<std::pair<CheckOutcome*, std::string>>> weak;
  std::set<std::string> earning;  // tasks, by a check that has passed or may still
  for (const Case& test_case : cases) {
    TaskOutcome& outcome = outcomes[test_case.task];
    if (outcome.state != TaskOutcome::State::kJudged) continue;
    const auto check = std::find_if(outcome.checks.begin(), outcome.checks.end(),
                                    [&](const CheckOutcome& one) { return one.name == test_case.name; });
    if (check == outcome.checks.end()) continue;
    if (check->state != State::kPassed && check->state != State::kNotJudged) continue;
    const std::string reason = not_enough.reason(test_case);
    if (reason.empty()) {
      earning.insert(test_case.task);
    } else {
      weak[test_case.task].emplace_back(&*check, reason);
    }
  }
  for (const auto& [task, checks] : weak) {
    for (const auto& [check, reason] : checks) {
      if (earning.count(task) != 0 || check->state != State::kPassed) continue;
      check->state = State::kFailed;
      check->reason = reason;
    }
  }
}

}  // namespace lab::grading
