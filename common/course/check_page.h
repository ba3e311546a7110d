#pragma once

#include <string>
#include <vector>

#include "common/course/combined_results.h"
#include "common/course/course_tree.h"
#include "common/page/result_page.h"

namespace lab {

/// The errors in what a build has printed: each begins with the line that says what is wrong, followed by the function
/// that it is in and the source lines and notes that the compiler or linker gives with it. Without colours, and with
/// paths from `root`. Warnings, commands and the build tool's own lines are left out. Empty: there is no error that it
/// recognizes.
/// Example   "a9_collectives/student/x.cpp:3:5: error: 'y' was not declared\n    3 |     y = 1;\n      |     ^"
std::vector<std::string> compiler_messages(const std::string& output, const std::string& root);

/// What `lab check` found, as the page that a student also gets from the instructor, without marks: tasks in the order of
/// their rubrics; a lab that was not built, with the compiler's messages; one without results for another reason is a
/// note.
/// Errors    UsageError: as CombinedResults::json(), or a field is missing
page::ResultPage check_page(const CombinedResults& results, const CourseTree& tree);

}  // namespace lab
