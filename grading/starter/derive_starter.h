#pragma once

#include <string>
#include <vector>

#include "common/course/starter/starter_tree.h"

namespace lab::grading {

/// The student's tree of the given labs, out of the one source: regions between solution markers are replaced by their
/// stubs, what students must not or need not have is left out, and the student files are there a second time in
/// .lab-pristine/. The same source gives the same bytes.
/// Errors    UsageError: markers that are wrong, with file and line; a file that cannot be read
StarterTree derive_starter(const std::string& source, const std::vector<std::string>& labs);

}  // namespace lab::grading
