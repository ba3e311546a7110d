#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// What to check of a lab.
struct PlannedCheck {
  const Rubric* lab = nullptr;
  std::vector<std::string> tasks;  ///< their ids, in the order of the rubric: each after those that it needs
  bool is_whole = false;           ///< then also what the lab checks beyond the rubric's tasks
};

/// Of tasks and labs, by their names; none: all labs. In the order of the labs.
/// Errors    UsageError: an unknown name
std::vector<PlannedCheck> plan_checks(const CourseTree& tree, const std::vector<std::string>& names);

/// Runs a program in this terminal, to its end. Returns its exit code.
/// stdout_fd   in the place of this process's own; negative: that
int run_here(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment = {},
             int stdout_fd = -1);

/// Builds a program of the tree; what the compiler says is shown.
/// messages    a file that also gets it; empty: none
/// Returns     false: it was not built
bool build_program(const CourseTree& tree, const std::string& program, const std::string& messages = "");

/// Builds labs, asks what the grading would refuse in them, and checks them.
class LabChecks {
 public:
  struct Options {
    std::vector<std::string> of_check;  ///< "--nproc", "3"
    bool score = false, junit = false;
    bool without_todos = false;  ///< no line for what is not implemented
  };
  LabChecks(const CourseTree& tree, Options options);
  ~LabChecks();
  LabChecks(const LabChecks&) = delete;
  LabChecks& operator=(const LabChecks&) = delete;

  /// Remembers the results. What would be refused in one file keeps no other file's tasks from being checked.
  /// Returns   the first exit code that is not 0
  int check(PlannedCheck plan);

  /// The folder of all results until now, as CombinedResults reads it; it is removed with this object.
  std::string results() const { return folder_ + "/results"; }

 private:
  std::string collect_results(const std::string& lab);
  void note_problem(const std::string& lab, const std::string& what);
  /// A lab's program that checks tasks; its output goes into a file.
  struct Running {
    pid_t process = 0;
    std::string results;  ///< without the ending
  };
  Running start_program(const PlannedCheck& plan);
  /// Prints what it has printed, when it has ended. Returns its exit code.
  int finish_program(const Running& running, const std::string& lab);
  void discard(const Running& running);
  void record(const std::string& file) const;

  const CourseTree& tree_;
  const Options options_;
  std::string folder_;
  int num_results_ = 0;
};

}  // namespace lab
