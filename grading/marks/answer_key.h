#pragma once

#include <string>
#include <vector>

#include "common/course/rubric/own_numbers.h"
#include "common/course/rubric/rubric.h"

namespace lab::grading {

/// What the tables in an answer to a question with numbers (A9's Q1 to Q3, A5's Q3) must hold for these numbers, a line for
/// each cell: "rank 2, printed x: 20". Empty for any other item, or without its numbers.
std::vector<std::string> expected_cells(const std::string& manual_id, const QuestionNumbers& numbers);

/// What an instructor reads before and while marking: every item with its marks, what to look for in those marked by
/// hand, where the reference solution is, and the files of the lab's answers/ folder (text in full, others by
/// size). `student`: an id, whose own questions and what their tables must hold are added; empty: nobody's.
/// Errors    UsageError: as list_questions(), for a student; the folder or a file in it cannot be read
std::string answer_key(const Rubric& rubric, const std::string& lab_folder, const std::string& student = "");

}  // namespace lab::grading
