#pragma once

#include <string>

namespace lab {

/// Makes the folder that an option names, and those above it, where it is not there yet.
/// Errors    UsageError: "--out x: expected a folder that can be made or written to"
void make_folder(const std::string& option, const std::string& path);

}  // namespace lab
