#include "grading/starter/wanted_files.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace lab::grading {
namespace {

/// Folders that only the suite's authors and graders need.
constexpr std::array<std::string_view, 4> kAuthorsFolders = {"answers", "python", "testing", "tests"};

constexpr std::array<std::string_view, 17> kKinds = {".cpp",         ".h",    ".in",       ".txt", ".cmake", ".md",
                                                     ".toml",        ".sh",   ".sbatch",   ".png", ".jpg",   ".svg",
                                                     ".safetensors", ".json", ".mustache", ".css", ".js"};

template <typename Names>
bool is_one_of(std::string_view name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool is_wanted_folder(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  return name[0] != '.' && !is_one_of(name, kAuthorsFolders);
}

bool is_wanted_file(const std::filesystem::path& file) {
  return file.filename().string()[0] != '.' && is_one_of(file.extension().string(), kKinds);
}

}  // namespace lab::grading
