#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "grading/marks/lab_marks.h"
#include "grading/marks/lab_outcome.h"

// Text from a student's code and files is made safe and cut: see safe_text() in common/base/text.h.
namespace lab::grading {

/// What both say at the top if something was not judged; the items say which of the two it was.
constexpr char kNotJudgedNote[] =
    "Some checks were not judged: the machine was too busy or out of memory, or a file needs a look. These marks are "
    "not final: it will be graded again.";

/// Gradescope's results.json: every field of its format, a test for each item, with the rubric's visibility. The score is the sum of the tests' scores, which are not
/// rounded. Items that wait for a person have no `status` and say so in `output`; those that were not judged have no
/// `score` either. What a student sees of a visible test or at the top says nothing of the others.
/// Source    https://gradescope-autograders.readthedocs.io/en/latest/specs/
std::string to_gradescope_json(const LabMarks& marks, const LabOutcome& outcome);

/// The report that a student reads, of what is visible: marks first, then each item that lost marks with what was found, then the notes and
/// how to replay.
std::string to_markdown(const LabMarks& marks, const LabOutcome& outcome);

/// The same as one HTML file, with what each failed check has cost next to what it may.
std::string to_html(const LabMarks& marks, const LabOutcome& outcome);

/// How much of what a submission says goes into a report: a program that prints forever must not fill the grader's
/// disk.
struct ReportLimits {
  static constexpr std::size_t kFindingBytes = 2000;  ///< one line of an item
  static constexpr std::size_t kNoteBytes = 8000;
  static constexpr std::size_t kMaxLines = 40;  ///< of an item, or of the notes
};

/// Escapes a line of text so that Markdown shows it as it is, without links, emphasis, HTML or table borders.
/// Characters that need no escape stay as they are, so that the source is readable, too.
/// Example   markdown_text("a*b|c") == "a\\*b\\|c"; markdown_text("a9.all_to_all [3, 0]") is unchanged
std::string markdown_text(std::string_view text);

/// A fenced block; the fence is longer than any in the text.
std::string markdown_block(std::string_view text);

}  // namespace lab::grading
