#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lab::grading {

/// Not a folder that only the suite's authors and graders need.
bool is_wanted_folder(const std::filesystem::path& folder);

/// Whether a file belongs in a source tree, or was left there by a run, a compiler or an editor.
bool is_wanted_file(const std::filesystem::path& file);

/// What the build makes, as lab_record() lists it (common/cmake/lab_targets.cmake). Paths are relative to the source tree.
struct BuildTarget {
  std::set<std::string> links;
  std::set<std::string> sources;
};
using BuildTargets = std::map<std::string, BuildTarget>;

/// Errors    UsageError: the file cannot be read, or has a line that is not a target's
BuildTargets read_build_targets(const std::string& file);

/// The sources that some programs need, by the targets that they are linked with.
class NeededSources {
 public:
  /// Errors    UsageError: a program that the build does not have
  NeededSources(const BuildTargets& targets, const std::vector<std::string>& programs);

  /// Whether only other targets compile this file.
  bool leaves_out(const std::string& path) const { return others_.count(path) > 0; }
  /// Whether targets compile files that are directly in this folder, and whether one of those needed does.
  bool is_compiled(const std::string& folder) const { return compiled_folders_.count(folder) > 0; }
  bool is_needed(const std::string& folder) const { return needed_folders_.count(folder) > 0; }

 private:
  std::set<std::string> others_, compiled_folders_, needed_folders_;
};

/// The files below the folder, such as "common", that the needed targets are made of: of a folder with their sources all
/// but what only others compile, of a folder without any sources what is in it, and of all headers those that the
/// starter's files include, or its texts link to.
/// Inputs    starts: files of the starter elsewhere
std::vector<std::string> needed_files(const std::string& source, const std::string& folder, const NeededSources& needed,
                                      const std::vector<std::string>& starts);

}  // namespace lab::grading
