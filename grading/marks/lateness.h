#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/moment.h"
#include "common/course/rubric/late_policy.h"

// What handing in late costs. Pure: no clock, no files.
namespace lab::grading {

/// What is known of when a student handed in a lab: from the platform or the instructor. The time of a file is no
/// evidence: whoever copies or unpacks it sets it.
struct HandedIn {
  std::optional<Moment> at = {};           ///< none: unknown
  std::optional<Moment> extended_to = {};  ///< the student's own due time; none: the lab's
  std::optional<int> free_days_left = {};  ///< by earlier labs; none: all of the policy's
  bool several = false;  ///< it is of several students, who have different free days left: these are not said
  bool differs = false;  ///< ... and for whom late days cost differently
};

struct Lateness {
  enum class State {
    kUnknown,  ///< when it was handed in
    kInTime,
    kLate,
    kTooLate,  ///< for any marks
    kDiffers   ///< from student to student: their results together cannot say it
  };
  State state = State::kUnknown;
  std::optional<Moment> at;           ///< with the offset of `due`
  Moment due;                         ///< of this student, if `at` is known
  int days = 0;                       ///< begun since it was due
  int free_days = 0;                  ///< of these
  std::optional<int> free_days_left;  ///< afterwards; none: there is no such limit
  int last_day = 0;                   ///< kTooLate: the last on which there were marks
  double percent = 0;                 ///< deducted
  bool of_total = false;              ///< of the lab's total; else of the marks that were reached
};

/// A day is 24 hours from the due time, and counts once it has begun: at the due time (and within the policy's grace
/// after it) no day has, one second later one has. Free days are used up first, as many as are left. After the policy's
/// last day, free days do not help, and none is used up.
/// Example   10 % per day and 1 free day, 30 hours late: 2 days, 1 of them free, 10 %
Lateness lateness_of(const LatePolicy& policy, const HandedIn& handed_in);

/// What is left of marks, bonuses and marks by hand among them, and never less than 0.
/// Example   10 % of 60 marks of 100: 54; 10 % of the total: 50
double marks_after(const Lateness& lateness, double marks, double total);

/// For the student, one sentence or two: "Handed in 2026-12-02 19:00 +01:00, due 2026-12-01 18:00 +01:00: 2 days late, 1
/// of them free; 10 % of the marks reached are deducted. 3 free days are left."
std::string to_text(const Lateness& lateness);

/// One lab of one student.
struct LateLab {
  std::string lab;
  LatePolicy policy;
  HandedIn handed_in;
};

/// Fills in how many free days of the student are left for each lab: in the order in which the labs are due (extensions
/// change nothing about it), each takes as many as it can use. No student can save them for later.
void share_free_days(std::vector<LateLab>& labs);

}  // namespace lab::grading
