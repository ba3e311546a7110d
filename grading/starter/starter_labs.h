#pragma once

#include <string>
#include <vector>

namespace lab::grading {

/// The labs of a source tree: its folders with a rubric.toml, in order.
/// Errors    UsageError: there is none, or the tree is a starter, which has no solutions to leave out
std::vector<std::string> labs_of_source(const std::string& source);

/// Those of the known labs that a starter in `folder` has; none if it is not a starter.
std::vector<std::string> labs_of_starter(const std::string& folder, const std::vector<std::string>& known);

/// The labs of "a4,a9", each named by its folder or by the part before its first underscore.
/// Errors    UsageError: an unknown name, with the nearest one; no name
/// Example   ["a4_data_tensor", "a9_collectives"]
std::vector<std::string> chosen_labs(const std::string& names, const std::string& source);

}  // namespace lab::grading
