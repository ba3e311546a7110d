#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grading/batch/class_marks.h"
#include "grading/batch/roster.h"

namespace lab::grading {

/// When students handed in, by an instructor's table: CSV with a column that says who, as a roster has, and one for each
/// lab ("a9"), whose cells are moments, or empty where that is unknown.
class HandInTimes {
 public:
  /// `labs`: those that may have a column; `students_by`: as Roster's id_column.
  /// Errors    UsageError: as Roster(); no lab's column; a cell that is neither empty nor a moment
  HandInTimes(const Roster& table, const std::string& path, const std::vector<std::string>& labs);

  struct Row {
    Student student;
    std::map<std::string, Moment> times;  ///< by lab; without those that are unknown
  };
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

/// Completes what is known of each student's hand-ins, in `handed_in`: the times of the table's row of that student, whom it
/// may call by anything in the roster, which take precedence over the
/// platform's; extensions; and how the free days are shared, over all labs with a policy of which a time is known, whether
/// they are graded here or only in the table.
/// `policies`: by lab. `times`: nullptr: there are none.
/// Returns   notes for the instructor: of whom no time is known, though there is a policy; extensions of nobody
std::vector<std::string> complete_hand_in_times(const std::map<std::string, LatePolicy>& policies, const Roster* roster,
                                                const HandInTimes* times, std::vector<MarkedStudent>& students);

/// What is known of the hand-in of several students together: what all have in common, or else that they differ.
/// `policy`: nullptr: there is none.
HandedIn together(const LatePolicy* policy, const std::vector<HandedIn>& students);

}  // namespace lab::grading
