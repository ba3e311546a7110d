#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/course/rubric/own_numbers.h"

namespace lab::grading {

// Tables in a student's markdown, read generously: blanks, brackets, outer borders and emphasis do not matter.

using WrittenTable = std::vector<std::vector<std::string>>;  ///< rows of cells; rules between rows are left out

/// The answer to a question: the lines below a heading that begins with its name ("## Q1. Broadcast", "**q1)**"), up to
/// the next heading of a question. Empty if there is none.
std::string section_of(std::string_view text, std::string_view question);

std::vector<WrittenTable> tables_of(std::string_view section);

/// The cell of the last row whose first cell holds this number and no other ("rank 2" is row 2), or none for row -1; empty
/// if there is none.
std::string cell_at(const WrittenTable& table, int row, std::size_t column);

/// The numbers in a cell. Digits that are part of a word do not count.
/// Example   "torch.Size([6])": 6; "tensor([20.], dtype=torch.float32)": 20
std::vector<double> numbers_of_cell(std::string_view cell);

/// For an item whose answer is exact (A9's Q1 to Q3, A5's Q3): which cells of the tables in the student's file hold the right
/// numbers. Never a mark: a person must read the reasons next to the tables. Empty for any other item.
/// `numbers`: those of the student's question.
/// Example   "8 of 8 cells are as expected"; "7 of 8 cells are as expected; rank 2, printed x: expected 20, found '30'"
std::string suggestion_for(const std::string& manual_id, const QuestionNumbers& numbers, const std::string& text);

/// What the cells must hold for these numbers, a line each: "rank 2, printed x: 20". Empty for any other item.
std::vector<std::string> expected_cells(const std::string& manual_id, const QuestionNumbers& numbers);

}  // namespace lab::grading
