#include "grading/starter/needed_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"

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

namespace {

namespace fs = std::filesystem;

std::set<std::string> describe_update(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string get_folder(const std::string& path) {
  return fs::path(path).parent_path().string();
}

/// The targets that these are linked with, themselves included.
std::set<std::string> linked_with(const BuildTargets& targets, std::vector<std::string> left) {
  std::set<std::string> linked;
  while (!left.empty()) {
    const std::string name = left.back();
    left.pop_back();
    const auto target = targets.find(name);
    if (target == targets.end() || !linked.insert(name).second) continue;  // a library of others, or one known already
    left.insert(left.end(), target->second.links.begin(), target->second.links.end());
  }
  return linked;
}

/// The headers of this project that a file includes; of a text, what its links lead to.
std::vector<std::string> referred_to_by(const std::string& source, const std::string& path) {
  const std::string kind = fs::path(path).extension().string();
  std::vector<std::string> paths;
  if (kind != ".cpp" && kind != ".h" && kind != ".md") return paths;
  const std::string bytes = "\n" + read_file(source + "/" + path), beginning = kind == ".md" ? "](" : "\n#include \"";
  for (std::size_t at = 0; (at = bytes.find(beginning, at)) != std::string::npos;) {
    at += beginning.size();
    const std::string name = bytes.substr(at, bytes.find_first_of(kind == ".md" ? ")#\n" : "\"\n", at) - at);
    paths.push_back(kind == ".md" ? (fs::path(path).parent_path() / name).lexically_normal().string() : name);
  }
  return paths;
}

/// The wanted files below a folder, without headers.
void add_files(const std::string& source, const std::string& folder, const NeededSources& needed, bool is_parent_needed,
               std::vector<std::string>& paths) {
  const bool is_needed = needed.is_compiled(folder) ? needed.is_needed(folder) : is_parent_needed;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(source) / folder)) {
    const std::string path = folder + "/" + entry.path().filename().string();
    if (entry.is_directory()) {
      if (is_wanted_folder(path)) add_files(source, path, needed, is_needed, paths);
    } else if (is_needed && is_wanted_file(path) && !needed.leaves_out(path)) {
      if (entry.path().extension() != ".h") paths.push_back(path);
    }
  }
}

}  // namespace

BuildTargets read_build_targets(const std::string& file) {
  BuildTargets targets;
  for (const std::string& line : list_lines(read_file(file))) {
    std::istringstream columns(line);
    std::string name, links, sources;
    if (!std::getline(columns, name, '\t') || !std::getline(columns, links, '\t') || !std::getline(columns, sources))
      throw UsageError(fmt::format("{}: expected lines of a target, what it is linked with and its sources, got '{}'",
                                   file, line.substr(0, line.find('\n'))));
    targets[name].links.merge(describe_update(links));
    targets[name].sources.merge(describe_update(sources));
  }
  return targets;
}

NeededSources::NeededSources(const BuildTargets& targets, const std::vector<std::string>& programs) {
  for (const std::string& program : programs) {
    if (targets.count(program) == 0)
      throw UsageError(fmt::format("the build has no program '{}'; hint: ./lab build", program));
  }
  const std::set<std::string> linked = linked_with(targets, programs);
  std::set<std::string> needed;
  for (const auto& [name, target] : targets) {
    for (const std::string& path : target.sources) compiled_folders_.insert(get_folder(path));
    (linked.count(name) > 0 ? needed : others_).insert(target.sources.begin(), target.sources.end());
  }
  for (const std::string& path : needed) {
    others_.erase(path);
    needed_folders_.insert(get_folder(path));
  }
}

std::vector<std::string> needed_files(const std::string& source, const std::string& folder, const NeededSources& needed,
                                      const std::vector<std::string>& starts) {
  std::vector<std::string> paths;
  add_files(source, folder, needed, true, paths);
  std::set<std::string> known(paths.begin(), paths.end());
  std::vector<std::string> left = paths;
  left.insert(left.end(), starts.begin(), starts.end());
  while (!left.empty()) {
    const std::string path = left.back();
    left.pop_back();
    for (const std::string& header : referred_to_by(source, path)) {
      if (fs::path(header).extension() != ".h" || header.compare(0, folder.size() + 1, folder + "/") != 0) continue;
      if (!fs::exists(source + "/" + header)) continue;
      if (!known.insert(header).second) continue;
      paths.push_back(header);
      left.push_back(header);
    }
  }
  return paths;
}

}  // namespace lab::grading
