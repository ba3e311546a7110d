#pragma once

#include <string>

namespace lab::grading {

/// A file of a submission as it is used: text in UTF-8, whatever the encoding it was handed in with.
struct TakenFile {
  std::string bytes;
  std::string
      fault;  ///< why it is of no use: "is empty", "is 3 MiB, expected at most 1 MiB", "is not text"; empty: none
  std::string note;  ///< what was done to it: "is Latin-1; it was converted to UTF-8"; empty: nothing
};

/// Sources, and answers that are text by their name, must be text in an encoding that is known (utf8_text.h); what a
/// picture holds is for a person to see.
TakenFile take_source(const std::string& bytes);
TakenFile take_answer(const std::string& name, const std::string& bytes);

bool is_markdown(const std::string& name);

}  // namespace lab::grading
