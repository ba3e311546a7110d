#include "grading/batch/gradescope_export.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "common/base/errors.h"
#include "common/base/text.h"

namespace lab::grading {

std::map<std::string, std::vector<Student>> parse_gradescope_metadata(const std::string& yaml,
                                                                      const std::string& path) {
  std::map<std::string, std::vector<Student>> folders;
  try {
    for (const auto& submission : YAML::Load(yaml)) {
      std::vector<Student>& students = folders[submission.first.as<std::string>()];
      for (const YAML::Node& submitter : submission.second[":submitters"]) {
        const auto text = [&](const char* key) {
          const YAML::Node value = submitter[key];
          return value && value.IsScalar() ? value.Scalar() : std::string();
        };
        students.push_back({text(":sid"), text(":name"), text(":email"), Student::IdOf::kUniversity});
      }
    }
  } catch (const YAML::Exception& failure) {
    throw UsageError(
        fmt::format("{}: expected the metadata of a Gradescope export: {}", path, one_line(failure.what())));
  }
  return folders;
}

}  // namespace lab::grading
