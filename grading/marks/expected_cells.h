#pragma once

#include <string>
#include <vector>

#include "common/course/rubric/own_numbers.h"

namespace lab::grading {

/// What the tables in an answer to a question with numbers (A9's Q1 to Q3, A5's Q3) must hold for these numbers, a line for
/// each cell: "rank 2, printed x: 20". Empty for any other item, or without its numbers.
std::vector<std::string> expected_cells(const std::string& manual_id, const QuestionNumbers& numbers);

}  // namespace lab::grading
