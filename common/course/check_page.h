#pragma once

#include "common/course/combined_results.h"
#include "common/course/course_tree.h"
#include "common/page/result_page.h"

namespace lab {

/// What `lab check` found, as the page that a student also gets from the instructor, without marks: tasks in the order of
/// their rubrics; a lab that was not built, with the compiler's messages; one without results for another reason is a
/// note.
/// Errors    UsageError: as CombinedResults::json(), or a field is missing
page::ResultPage check_page(const CombinedResults& results, const CourseTree& tree);

}  // namespace lab
