#pragma once

#include <string>
#include <vector>

namespace lab::grading {

/// Names for a message: the first ten, then a count. Names in a submission may contain anything; they are truncated and
/// made printable.
/// Example   "'a.cpp', 'b.cpp' and 3 more"
std::string name_list(const std::vector<std::string>& names);

}  // namespace lab::grading
