#pragma once

#include <string>
#include <vector>

#include "grading/hostile/hostile_place.h"

// Archives that attack the program that unpacks them.
namespace lab::grading {

/// "zip_slip", "zip_bomb", ...
std::vector<std::string> hostile_archive_names();

/// Writes the archive of this name. Those with links point at files of the place.
/// Errors    UsageError: there is no such archive
void write_hostile_archive(const std::string& name, const std::string& path, const HostilePlace& place);

}  // namespace lab::grading
