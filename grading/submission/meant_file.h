#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lab::grading {

/// The missing file that a misnamed one is probably meant to be: one of the same name in another folder or case, or
/// else the nearest.
/// Example   "student/Ring.cpp" for "student/allgather/ring.cpp"
std::optional<std::string> meant_file(const std::string& name, const std::vector<std::string>& missing);

}  // namespace lab::grading
