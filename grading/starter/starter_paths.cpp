#include "grading/starter/starter_paths.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>

#include "common/course/rubric.h"

namespace lab::grading {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kRootFiles = {
    ".clang-format", ".editorconfig", ".gitignore", "CMakeLists.txt", "CMakePresets.json", "LICENSE", "lab"};

/// Folders that only the suite's authors and graders need.
constexpr std::array<std::string_view, 4> kAuthorsFolders = {"tests", "testing", "compile_fail", "answers"};

/// What may be in a source tree. Anything else was left there by a run, a compiler or an editor.
constexpr std::array<std::string_view, 13> kKinds = {
    ".cpp", ".h", ".in", ".txt", ".cmake", ".md", ".toml", ".sh", ".sbatch", ".png", ".jpg", ".svg", ".safetensors"};

/// Assignment 4 solved in Python, to be timed beside ours.
constexpr std::string_view kPythonReference = "common/bench/a4_reference.py";

template <typename Names>
bool is_one_of(std::string_view name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_wanted_folder(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name[0] != '.' && !is_one_of(name, kAuthorsFolders);
}

bool is_wanted_file(const fs::path& file) {
  return file.filename().string()[0] != '.' && is_one_of(file.extension().string(), kKinds);
}

/// What students hand in beside their code, which may lie in the lab's folder of whoever tried it out.
std::set<std::string> results_of(const std::string& source, const std::string& lab) {
  const Rubric rubric = load_rubric(source + "/" + lab + "/rubric.toml");
  std::set<std::string> results(rubric.hand_in.answers.begin(), rubric.hand_in.answers.end());
  for (const RubricManual& manual : rubric.manuals) results.insert(manual.also.begin(), manual.also.end());
  return results;
}

void add_folder(const std::string& source, const std::string& folder, const std::set<std::string>& results,
                std::vector<std::string>& paths) {
  const fs::path top = fs::path(source) / folder;
  for (auto entry = fs::recursive_directory_iterator(top); entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->is_directory()) {
      if (!is_wanted_folder(entry->path())) entry.disable_recursion_pending();
    } else if (is_wanted_file(entry->path())) {
      const std::string inside = fs::relative(entry->path(), top).string();
      if (results.count(inside) == 0) paths.push_back(folder + "/" + inside);
    }
  }
}

}  // namespace

std::vector<std::string> starter_paths(const std::string& source, const std::vector<std::string>& labs) {
  std::vector<std::string> paths(kRootFiles.begin(), kRootFiles.end());
  add_folder(source, "common", {}, paths);
  for (const std::string& lab : labs) add_folder(source, lab, results_of(source, lab), paths);
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace lab::grading
