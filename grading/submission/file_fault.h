#pragma once

#include <string>

namespace lab::grading {

/// Why a file of a submission is of no use: "is empty", "is 3 MiB, expected at most 1 MiB", "is no text: ..."; empty
/// where it is of use. Sources, and answers that are text by their name, must be UTF-8; what a picture holds is for a
/// person to see.
std::string fault_of_source(const std::string& bytes);
std::string fault_of_answer(const std::string& name, const std::string& bytes);

}  // namespace lab::grading
