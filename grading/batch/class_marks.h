#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/course/hand_in/identity.h"
#include "grading/batch/class_plan.h"
#include "grading/batch/roster.h"
#include "grading/marks/lab_marks.h"

namespace lab::grading {

/// One student of a class, with all that was handed in.
struct MarkedStudent {
  std::optional<std::size_t> roster_row;
  Identity identity;
  std::string who;                       ///< the folder of the results; empty: nothing was handed in
  std::vector<std::string> hand_ins;     ///< those that count
  bool is_late = false;                  ///< one of them is, by the platform
  std::vector<std::string> open;         ///< why there are no marks, or what has to be looked at before they are final
  std::vector<std::string> remarks;      ///< what else there is to know
  std::map<std::string, LabMarks> labs;  ///< by lab
  std::map<std::string, std::string> handed_in;  ///< by lab: the version (see ScannedHandIn) that counts
  std::map<std::string, std::string> withheld;   ///< by lab: why its marks may not be hers
};

/// Why a student's marks for a lab may not go into a file for import; empty: they may. For it, a column that identifies must
/// name the student, an archive of this lab must have been read in this run, and the marks must be final.
std::string why_not_final(const MarkedStudent& student, const std::string& lab, bool with_pending);

/// One for each student of a class, without marks: in the roster's order, then the others by folder. A group's students
/// have one each.
std::vector<MarkedStudent> list_students(const ClassPlan& plan, const Roster* roster);

/// What there is to say of a student; what has to be looked at comes first.
std::vector<std::string> all_remarks(const MarkedStudent& student);

/// What a student is called: in the roster, or else by the own id, or else by the folder of the results.
std::string find_id(const Roster* roster, const MarkedStudent& student);

/// A table of marks: the roster's columns if there is one, then those below, four of them for each lab. Marks are not
/// rounded.
/// Returns   CSV that is safe to open in a spreadsheet
/// Example   ID,Student,who,hand-in,late,a9 marks,a9 of,a9 pending,a9 not judged,remarks
std::string marks_csv(const Roster* roster, const std::vector<MarkedStudent>& students,
                      const std::vector<std::string>& labs);

}  // namespace lab::grading
