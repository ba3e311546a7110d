#pragma once

#include <string>

namespace lab::grading {

/// For an item whose answer is exact (A9's Q1 to Q3): which cells of the tables in the student's file hold the right
/// numbers. Never a mark: the reasons beside the tables are for a person to read. Empty for any other item.
/// Example   "8 of 8 cells are as expected"; "7 of 8 cells are as expected; rank 2, printed x: expected 20, found '30'"
std::string suggestion_for(const std::string& manual_id, const std::string& text);

}  // namespace lab::grading
