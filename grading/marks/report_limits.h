#pragma once

#include <cstddef>

namespace lab::grading {

/// How much of what a submission says goes into a report: a program that prints forever must not fill the grader's
/// disk.
struct ReportLimits {
  static constexpr std::size_t kWordsBytes = 2000;  ///< one line of an item
  static constexpr std::size_t kNoteBytes = 8000;
  static constexpr std::size_t kMaxLines = 40;  ///< of an item, or of the notes
};

}  // namespace lab::grading
