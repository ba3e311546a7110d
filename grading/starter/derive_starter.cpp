#include "grading/starter/derive_starter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/lab_names.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/course/course_tree.h"
#include "common/course/rubric/rubric.h"
#include "common/course/rubric/rubric_check.h"
#include "common/course/starter/markers.h"
#include "common/course/starter/starter_tree.h"
#include "common/course/starter/what_to_read.h"
#include "grading/starter/needed_files.h"

namespace lab::grading {
namespace {

bool begins_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

std::string row_of_lab(const std::vector<std::string>& readme, const std::string& lab) {
  const std::string beginning = fmt::format("| [{0}]({0}/README.md) |", lab);
  for (const std::string& line : readme) {
    if (begins_with(line, beginning)) return line;
  }
  throw UsageError(fmt::format("README.md: expected a row of the table of labs that begins '{}'", beginning));
}

std::string find_section(const std::vector<std::string>& readme, const std::string& title) {
  std::string section;
  for (const std::string& line : readme) {
    if (!section.empty() && begins_with(line, "## ")) return section;
    if (!section.empty() || line == "## " + title + "\n") section += line;
  }
  if (section.empty()) throw UsageError(fmt::format("README.md: expected a section '## {}'", title));
  return section + "\n";
}

/// A starter's README: grading/starter/README.starter.md, with these placeholders filled in:
///
///     {{labs}}                 a line of its own: the rows of the suite's README, of the labs that the starter has
///     {{section Exit codes}}   a line of its own: that section of the suite's README, heading included
///     {{task}} {{lab}}         the first task, "a4.single_step", and the short name of its lab
///     {{task of ranks}}        a task of that lab in which ranks exchange messages: the last one with the most marks
///
/// Errors    UsageError: a row or section that the suite's README does not have
std::string starter_readme(const std::string& source, const std::vector<std::string>& labs) {
  const std::vector<std::string> readme = list_lines(read_file(source + "/README.md"));
  const std::string section_word = "{{section ";
  std::string text;
  for (const std::string& line : list_lines(read_file(source + "/grading/starter/README.starter.md"))) {
    if (line == "{{labs}}\n") {
      for (const std::string& lab : labs) text += row_of_lab(readme, lab);
    } else if (begins_with(line, section_word)) {
      text += find_section(readme, line.substr(section_word.size(), line.find("}}") - section_word.size()));
    } else {
      text += line;
    }
  }
  const Rubric first_lab = load_rubric(source + "/" + labs.front() + "/rubric.toml");
  replace_all(text, "{{task}}", first_lab.tasks.front().id);
  const auto most =
      std::max_element(first_lab.tasks.rbegin(), first_lab.tasks.rend(), [](const auto& a, const auto& b) {
        return std::make_pair(a.bonus, -a.marks) > std::make_pair(b.bonus, -b.marks);
      });
  replace_all(text, "{{task of ranks}}", most->id);
  replace_all(text, "{{lab}}", shorten_name(first_lab.lab));
  while (text.size() > 1 && text.compare(text.size() - 2, 2, "\n\n") == 0) text.pop_back();
  return text;
}

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 8> kRootFiles = {
    ".clang-format", ".clangd", ".editorconfig", ".gitignore", "CMakeLists.txt", "CMakePresets.json", "LICENSE", "lab"};

/// What ./lab starts besides the labs.
constexpr std::array<std::string_view, 4> kPrograms = {"lab_demo", "labchecklog", "labcourse", "labrun"};

/// Of common/, for contributors.
constexpr std::array<std::string_view, 2> kAuthorsPages = {"common/README.md", "common/scale.md"};

/// Samples for CI services, which look for them at these places: {in a starter, in the source tree}.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kCiFiles = {
    {{".github/workflows/labs.yml", "grading/starter/ci/github_labs.yml"},
     {".gitlab-ci.yml", "grading/starter/ci/gitlab-ci.yml"}}};

/// What students hand in in addition to their code: running a lab may have left it in the lab's folder.
std::set<std::string> collect_results(const std::string& source, const std::string& lab) {
  const Rubric rubric = load_rubric(source + "/" + lab + "/rubric.toml");
  std::set<std::string> results(rubric.hand_in.answers.begin(), rubric.hand_in.answers.end());
  for (const RubricManual& manual : rubric.manuals) results.insert(manual.also.begin(), manual.also.end());
  return results;
}

/// The files of a lab's folder but what only the judge compiles, and results.
void add_lab(const std::string& source, const std::string& lab, const NeededSources& needed,
             std::vector<std::string>& paths) {
  const std::set<std::string> results = collect_results(source, lab);
  const fs::path top = fs::path(source) / lab;
  for (auto entry = fs::recursive_directory_iterator(top); entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->is_directory()) {
      if (!is_wanted_folder(entry->path())) entry.disable_recursion_pending();
    } else if (is_wanted_file(entry->path())) {
      const std::string inside = fs::relative(entry->path(), top).string(), path = lab + "/" + inside;
      if (results.count(inside) == 0 && !needed.leaves_out(path)) paths.push_back(path);
    }
  }
}

/// Which files of the source tree a starter has, whatever else is in it: what is needed to build, run, check and hand
/// in, and nothing that only graders or authors need: no grading/, tests, benchmarks, answers, results of runs, history.
/// The README is not among them: a starter has its own.
std::vector<std::string> starter_paths(const std::string& source, const BuildTargets& targets,
                                       const std::vector<std::string>& labs) {
  std::vector<std::string> programs(kPrograms.begin(), kPrograms.end());
  programs.insert(programs.end(), labs.begin(), labs.end());
  const NeededSources needed(targets, programs);
  std::vector<std::string> paths;
  for (const std::string& lab : labs) add_lab(source, lab, needed, paths);
  for (const std::string& path : needed_files(source, "common", needed, paths)) {
    if (std::count(kAuthorsPages.begin(), kAuthorsPages.end(), path) == 0) paths.push_back(path);
  }
  paths.insert(paths.end(), kRootFiles.begin(), kRootFiles.end());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Whether a file may have markers: pictures and weights have none.
bool is_text(const std::string& bytes) {
  return bytes.find('\0') == std::string::npos;
}

std::string without_solutions(const std::string& path, const std::string& bytes,
                              const std::vector<std::string>& given) {
  try {
    return is_text(bytes) ? join_starter(parse_solution_markers(bytes), given) : bytes;
  } catch (const UsageError& failure) {
    throw UsageError(path + ": " + failure.what());
  }
}

}  // namespace

std::vector<std::string> labs_of_source(const std::string& source) {
  if (!std::filesystem::exists(source + "/grading")) {
    throw UsageError(fmt::format("--source {}: expected the suite's own source tree, with grading/ and labs", source));
  }
  const CourseTree tree = CourseTree::load(source);
  std::vector<std::string> labs;
  for (const Rubric& lab : tree.labs()) {
    require_sections(lab, read_file(tree.get_folder(lab) + "/README.md"));
    labs.push_back(lab.lab);
  }
  return labs;
}

std::vector<std::string> labs_of_starter(const std::string& folder, const std::vector<std::string>& known) {
  const std::map<std::string, std::string> files = read_starter_list(folder);
  std::vector<std::string> labs;
  for (const std::string& lab : known) {
    if (files.count(lab + "/rubric.toml") > 0) labs.push_back(lab);
  }
  return labs;
}

std::vector<std::string> chosen_labs(const std::string& names, const std::string& source) {
  const CourseTree tree = CourseTree::load(source);
  std::set<std::string> chosen;
  std::istringstream words(names);
  for (std::string name; std::getline(words, name, ',');) chosen.insert(tree.lab_named(name).lab);
  if (chosen.empty()) throw UsageError("--labs: expected labs such as a4,a9, got nothing");
  return {chosen.begin(), chosen.end()};
}

StarterTree derive_starter(const std::string& source, const std::vector<std::string>& labs) {
  const fs::path build = fs::path(own_program()).parent_path().parent_path();
  std::vector<std::string> given;
  for (const std::string& lab : labs) {
    for (const RubricTask& task : load_rubric(source + "/" + lab + "/rubric.toml").given) given.push_back(task.id);
  }
  StarterTree tree;
  for (const std::string& path : starter_paths(source, read_build_targets((build / "targets.txt").string()), labs)) {
    const std::string full = source + "/" + path;
    const bool executable = (std::filesystem::status(full).permissions() & std::filesystem::perms::owner_exec) !=
                            std::filesystem::perms::none;
    tree[path] = {without_solutions(path, read_file(full), given), executable};
    if (is_student_file(path)) tree[std::string(kPristineFolder) + "/" + path] = tree[path];
  }
  for (const auto& [path, origin] : kCiFiles) {
    tree[std::string(path)] = {read_file(fmt::format("{}/{}", source, origin)), false};
  }
  tree["README.md"] = {starter_readme(source, labs), false};
  return tree;
}

}  // namespace lab::grading
