#pragma once

#include <map>
#include <string>
#include <vector>

#include "grading/batch/download_name.h"

namespace lab::grading {

/// The file that says in Gradescope's export of submissions whose each folder is.
inline constexpr char kGradescopeMetadata[] = "submission_metadata.yml";

/// Who handed in each of the export's folders ("submission_98765"): several where they worked as a group.
/// Errors    UsageError: not such YAML; `path` names the file in the message
/// Source    yaml-cpp, which is used here only
std::map<std::string, std::vector<Student>> parse_gradescope_metadata(const std::string& yaml, const std::string& path);

}  // namespace lab::grading
