#pragma once

#include <string>
#include <vector>

#include "common/course/starter/starter_tree.h"

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

/// The students' tree of the given labs, derived from this one: regions between solution markers are replaced by their
/// stubs, what students must not or need not have is left out, and .lab-pristine/ has a second copy of the student
/// files. Of common/ it has what the labs' programs are
/// linked with in the build that this program is from. The same source gives the same bytes.
/// Errors    UsageError: invalid markers, with file and line; a file that cannot be read
StarterTree derive_starter(const std::string& source, const std::vector<std::string>& labs);

}  // namespace lab::grading
