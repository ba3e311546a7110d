#pragma once

#include <string>
#include <vector>

namespace lab::grading {

/// Names for a message: the first ten, then a count. Names of a submission may hold anything; they are cut and made
/// printable.
/// Example   "'a.cpp', 'b.cpp' and 3 more"
std::string name_list(const std::vector<std::string>& names);

}  // namespace lab::grading
