#pragma once

#include <string>

namespace lab::grading {

/// A file of a submission as it is used: text in UTF-8, whatever the encoding it was handed in with.
struct TakenFile {
  std::string bytes;
  /// Why it cannot be used: "is empty", "is 3 MiB, expected at most 1 MiB", "is not text"; empty if it can.
  std::string fault;
  std::string note;  ///< what was done to it: "is Latin-1; it was converted to UTF-8"; empty: nothing
};

/// Sources, and answers that are text by their name, must be text in a known encoding (utf8_text.h); the content of
/// pictures is not checked.
TakenFile take_source(const std::string& bytes);
TakenFile take_answer(const std::string& name, const std::string& bytes);

bool is_markdown(const std::string& name);

}  // namespace lab::grading
