#pragma once

#include <string>

namespace lab {

/// All bytes of a regular file.
/// Errors    UsageError: it cannot be read, or is a folder
std::string read_file(const std::string& path);

}  // namespace lab
