#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/moment.h"
#include "common/course/rubric/toml_table.h"

namespace lab {

/// What a lab that is handed in after its due time costs: the table [late] of an instructor's file.
struct LatePolicy {
  Moment due;
  std::map<std::string, Moment> extensions;  ///< student -> the due time of this student
  std::optional<int> free_days;              ///< of a student, for all labs together; none: no such limit
  std::optional<int> free_days_per_lab;      ///< the most of them for this lab; none: no such limit
  double percent_per_day = 0;                ///< for each day begun that is not free
  bool of_total = false;                     ///< percent of the lab's total; else of the marks that were reached
  double most_percent = 100;                 ///< the most that is deducted
  std::optional<int> last_day;               ///< later than this many days, a hand-in earns nothing
  int grace_minutes = 0;                     ///< how much after the due time is still in time
};

/// The policy of one lab: keys of the course's table hold where the lab's table has none of its own. Nothing without
/// `due`, which only the lab's table may have: such a lab is never late.
/// Errors    UsageError: an unknown key, a value of the wrong kind or out of range, no percent_per_day
std::optional<LatePolicy> read_late_policy(const std::optional<TomlTable>& of_course,
                                           const std::optional<TomlTable>& of_lab);

}  // namespace lab
