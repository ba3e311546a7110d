#pragma once

#include <string>
#include <vector>

#include "common/course/starter/starter_tree.h"

namespace lab::grading {

/// The students' tree of the given labs, derived from this one: regions between solution markers are replaced by their
/// stubs, what students must not or need not have is left out, and .lab-pristine/ has a second copy of the student
/// files. The same source gives the same bytes.
/// Errors    UsageError: invalid markers, with file and line; a file that cannot be read
StarterTree derive_starter(const std::string& source, const std::vector<std::string>& labs);

}  // namespace lab::grading
