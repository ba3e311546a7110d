#pragma once

#include <string>
#include <vector>

namespace lab::grading {

/// Unpacks a learning platform's bulk download into a folder, which must be empty. Names come from students: only
/// regular files are taken, and none is written outside the folder.
/// Returns   what was left out, and why
/// Errors    UsageError: it is not an archive, is broken, or holds more than 16 GiB or 200,000 entries
std::vector<std::string> unpack_download(const std::string& archive, const std::string& folder);

}  // namespace lab::grading
