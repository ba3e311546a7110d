#pragma once

#include <map>
#include <string>
#include <vector>

#include "grading/batch/download_name.h"

namespace lab::grading {

/// The file that says in Gradescope's export of submissions whose each folder is.
inline constexpr char kGradescopeMetadata[] = "submission_metadata.yml";

/// Who handed in a folder of an export.
struct GradescopeFolder {
  std::vector<Student> students;  ///< several where they worked as a group
};

/// The export's folders by name ("submission_98765").
/// Errors    UsageError: not such YAML; `path` names the file in the message
/// Source    yaml-cpp, which is used here only
std::map<std::string, GradescopeFolder> parse_gradescope_metadata(const std::string& yaml, const std::string& path);

}  // namespace lab::grading
