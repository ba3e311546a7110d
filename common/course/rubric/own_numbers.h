#pragma once

#include <map>
#include <string>
#include <vector>

namespace lab {

struct Rubric;
struct RubricManual;

/// A number of a written question, for which each student may have one of their own.
struct RubricNumber {
  std::string name;  ///< "src": stands as {src} in the question
  int handout = 0;   ///< in the handout and its template
  int from = 0, to = 0;
};

using QuestionNumbers = std::map<std::string, int>;  ///< by name

/// The numbers of a student's question. They follow from the id (in upper or lower case), the rubric's `own_numbers` and
/// the number's name by keyed_hash(), and are the same everywhere. That text is no secret: it only makes them others than
/// last year's. Without it, or without an id, they are those of the handout.
QuestionNumbers read_numbers(const Rubric& rubric, const RubricManual& manual, const std::string& student);

/// The question with these numbers.
/// Example   "`src = {src}`" with src 3: "`src = 3`"
std::string question_with(const RubricManual& manual, const QuestionNumbers& numbers);

/// The questions of a lab as one student has them, for reading.
/// Errors    UsageError: the lab has none with numbers
std::string list_questions(const Rubric& rubric, const std::string& student);

}  // namespace lab
