#include "grading/starter/derive_starter.h"

#include <filesystem>

#include "common/course/markers.h"
#include "common/report/errors.h"
#include "common/report/read_file.h"
#include "grading/starter/starter_paths.h"
#include "grading/starter/starter_readme.h"

namespace lab::grading {
namespace {

/// Pictures and weights have no markers.
bool is_text(const std::string& bytes) {
  return bytes.find('\0') == std::string::npos;
}

std::string without_solutions(const std::string& path, const std::string& bytes) {
  try {
    return is_text(bytes) ? join_starter(parse_solution_markers(bytes)) : bytes;
  } catch (const UsageError& failure) {
    throw UsageError(path + ": " + failure.what());
  }
}

}  // namespace

StarterTree derive_starter(const std::string& source, const std::vector<std::string>& labs) {
  StarterTree tree;
  for (const std::string& path : starter_paths(source, labs)) {
    const std::string full = source + "/" + path;
    const bool executable = (std::filesystem::status(full).permissions() & std::filesystem::perms::owner_exec) !=
                            std::filesystem::perms::none;
    tree[path] = {without_solutions(path, read_file(full)), executable};
    if (is_student_file(path)) tree[std::string(kPristineFolder) + "/" + path] = tree[path];
  }
  tree["README.md"] = {starter_readme(source, labs), false};
  return tree;
}

}  // namespace lab::grading
