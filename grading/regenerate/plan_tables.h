#pragma once

#include <string>
#include <vector>

#include "common/course/rubric/rubric.h"

// The labs in numbers, as rubrics and references have them, in the tables that the README and the plan for instructors
// hold. Cells of other columns are written by hand.
namespace lab::grading {

/// What the plan says of a lab.
struct LabNumbers {
  int required_tasks = 0, bonus_tasks = 0;  ///< full marks need the former: all but bonus tasks, or the ladders' needs
  double marks = 0, marks_by_hand = 0, bonus_marks = 0;
  double hours = 0, bonus_hours = 0;  ///< as SYLLABUS.md estimates them
};

/// `folder`: of the lab, with its headers, README and student files.
/// Errors    UsageError: a file cannot be read, or its markers do not pair
LabNumbers read_numbers(const Rubric& rubric, const std::string& folder);

/// By short name: "a4".
using PlanNumbers = std::vector<std::pair<std::string, LabNumbers>>;

/// SYLLABUS.md with the cells of its table "lab" derived; a row of another lab stays. Hours stay as they are written while they are less than 0.75
/// away, as a README may grow by a page.
/// Errors    UsageError: a lab has no row there
std::string with_plan(const std::string& syllabus, const PlanNumbers& labs);

/// SYLLABUS.md with the rows of the lab's table "task" derived: what each task and item teaches, those that teach the
/// same in one row. Unchanged if the first task does not say what it teaches.
/// Errors    UsageError: there is no such table
std::string with_lessons(const std::string& syllabus, const Rubric& rubric);

/// README.md with the tasks and hours of its table "folder" derived from a SYLLABUS.md that has them.
/// Errors    UsageError: a lab of the README has no row in the plan
std::string with_labs(const std::string& readme, const std::string& syllabus);

}  // namespace lab::grading
