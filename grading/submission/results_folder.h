#pragma once

#include <string>
#include <vector>

#include "grading/submission/submission.h"

namespace lab::grading {

/// The folder below `base` that holds a submission's results: named by the identity's id, or its name; without an
/// identity by the file or folder that was handed in, or the folder around it where the file has the name that every
/// student's has ("alice/a9_collectives.zip": "alice"). Where that folder holds somebody else's results, a checksum of
/// the identity is added, so that none are replaced by another student's.
std::string results_folder(const std::string& base, const std::string& submission, const Identity& identity,
                           const std::vector<KnownLab>& labs);

/// Writes into the folder whose results it holds, by which results_folder() knows: identity.toml.
/// Errors    UsageError: cannot be written
void keep_owner(const std::string& folder, const std::string& submission, const Identity& identity);

}  // namespace lab::grading
