#pragma once

#include <string>
#include <vector>

#include "grading/submission/submission.h"

namespace lab::grading {

/// What the folder of a submission's results is called, unless another student's has that name: after the identity's id or
/// name, or else after what was handed in, as results_folder() says.
std::string results_name(const std::string& submission, const Identity& identity, const std::vector<KnownLab>& labs);

/// The folder below `base` that holds a submission's results: named after the identity's id or name; without an
/// identity, after the file or folder that was handed in, or the folder around it if the file has the name that every
/// student's has ("alice/a9_collectives.zip": "alice"). If that folder holds another student's results, a checksum of
/// the identity is added, so that those are not replaced.
std::string results_folder(const std::string& base, const std::string& submission, const Identity& identity,
                           const std::vector<KnownLab>& labs);

/// Writes identity.toml into the folder: whose results it holds, for results_folder() to recognize.
/// Errors    UsageError: cannot be written
void keep_owner(const std::string& folder, const std::string& submission, const Identity& identity);

}  // namespace lab::grading
