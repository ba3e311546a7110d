#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grading/batch/class_marks.h"
#include "grading/marks/lab_marks.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// Where the page of all pairs is, from the folder of the results.
inline constexpr char kSimilarityPage[] = "similarity/index.html";

/// What an instructor looks at first: how the marks are distributed, which tasks and checks are hard, what the common
/// causes are, who stands out, and a table of all students with links to their reports.
class ClassOverview {
 public:
  /// Counts one hand-in, once however many students have handed it in together.
  void add(const std::string& who, const LabMarks& marks, const LabOutcome& outcome);

  /// The page, to be written into the folder of all results. `similarity`: a page to link to; empty: there is none.
  std::string html(const Roster* roster, const std::vector<MarkedStudent>& students,
                   const std::vector<std::string>& labs, const std::string& similarity) const;

 private:
  struct Task {
    std::string title;
    int num_passed = 0, num_judged = 0;
    double shares = 0;  ///< sum over hand-ins of what each has of the task's marks
  };
  struct Check {
    int num_failed = 0, num_judged = 0;
  };
  struct Cause {
    std::set<std::string> hand_ins, tasks;
  };

  std::set<std::pair<std::string, std::string>> seen_;  ///< who and lab
  std::map<std::string, Task> tasks_;
  std::map<std::pair<std::string, std::string>, Check> checks_;  ///< by task and name
  std::map<std::string, Cause> causes_;
  std::map<std::pair<std::string, std::string>, double> seconds_;  ///< that judging took, by lab and who
};

}  // namespace lab::grading
