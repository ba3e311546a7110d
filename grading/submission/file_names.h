#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lab::grading {

/// Names for a message: the first ten, then a count. Names in a submission may contain anything; they are truncated and
/// made printable.
/// Example   "'a.cpp', 'b.cpp' and 3 more"
std::string name_list(const std::vector<std::string>& names);

/// The missing file that a misnamed one is probably meant to be: one of the same name in another folder or case, or
/// else the nearest.
/// Example   "student/Ring.cpp" for "student/allgather/ring.cpp"
std::optional<std::string> meant_file(const std::string& name, const std::vector<std::string>& missing);

}  // namespace lab::grading
