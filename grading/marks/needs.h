#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/course/rubric/rubric.h"
#include "grading/marks/lab_marks.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

enum class NeedState { kUnmet, kNotJudged, kPending, kMet };  // the worst first

/// What rungs and bonuses need, and how far that is met. A task is met when all its checks are right, a check when
/// it is, a manual item when it has all its marks; it is pending while it waits for them. What was not judged may be
/// met after another grading, unless part of it failed.
class Needs {
 public:
  Needs(const LabOutcome& outcome, const std::vector<MarkedItem>& manual_items);

  NeedState state_of(const std::string& need) const;
  /// All of `needs`, and one of `any_of` if there are any.
  NeedState state_of(const std::vector<std::string>& needs, const std::vector<std::string>& any_of) const;
  /// Those that are not met: "a9.ring, one of a9.x, a9.y"; empty if all are met.
  std::string lacking(const std::vector<std::string>& needs, const std::vector<std::string>& any_of) const;

 private:
  NeedState one_of(const std::vector<std::string>& any_of) const;

  std::map<std::string, NeedState> states_;  ///< of tasks, checks and manual items; whatever is not here is unmet
};

}  // namespace lab::grading
