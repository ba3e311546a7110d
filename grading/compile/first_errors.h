#pragma once

#include <string>

namespace lab::grading {

/// What to show of a compiler's or a linker's output: a dozen lines from the first error on, cut to 300 characters each;
/// without an error among them, the first 1,000 characters.
std::string first_errors(const std::string& output);

}  // namespace lab::grading
