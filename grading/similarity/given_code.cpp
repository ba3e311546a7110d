#include "grading/similarity/given_code.h"

#include <filesystem>

#include "common/course/starter/starter_tree.h"
#include "grading/starter/derive_starter.h"

namespace lab::grading {
namespace {

bool is_code(const std::string& path) {
  const std::string type = std::filesystem::path(path).extension().string();
  return type == ".cpp" || type == ".h";
}

bool is_in(const std::string& folder, const std::string& path) {
  return path.compare(0, folder.size() + 1, folder + "/") == 0;
}

}  // namespace

std::map<std::string, BaseCode> given_code(const std::string& source, const WinnowingSizes& sizes) {
  const std::vector<std::string> labs = labs_of_source(source);
  const StarterTree starter = derive_starter(source, labs);
  BaseCode common(sizes);
  for (const auto& [path, file] : starter) {
    if (is_code(path) && is_in("common", path)) common.add({{path, file.bytes}});
  }
  std::map<std::string, BaseCode> given;
  for (const std::string& lab : labs) {
    BaseCode& base = given.emplace(lab, common).first->second;
    std::map<std::string, std::string> stubs;  // together, as a hand-in's files are
    for (const auto& [path, file] : starter) {
      if (!is_code(path) || !is_in(lab, path)) continue;
      if (is_student_file(path)) {
        stubs[path] = file.bytes;
      } else {
        base.add({{path, file.bytes}});
      }
    }
    base.add(stubs);
  }
  return given;
}

}  // namespace lab::grading
