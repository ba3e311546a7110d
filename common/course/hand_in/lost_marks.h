#pragma once

#include <map>
#include <set>
#include <string>

#include "common/course/rubric/rubric.h"

namespace lab {

struct LostMarks {
  double marks = 0, bonus = 0;

  /// "up to 20 marks", "up to 12 marks and 3 bonus marks", "no marks by itself"
  std::string text() const;
};

/// What is lost at most without these tasks and manual items: their own marks, and the rungs and bonuses for which they,
/// their checks, or tasks that build on them, are needed.
LostMarks lost_without(const Rubric& rubric, const std::set<std::string>& items);

/// What each of these tasks costs by itself or, if more, along with the others: of two tasks one may be enough.
std::map<std::string, LostMarks> lost_by_each(const Rubric& rubric, const std::set<std::string>& tasks);

}  // namespace lab
