#include "common/course/hand_in_warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/course/lines.h"
#include "common/course/rubric_check.h"
#include "common/course/starter_tree.h"
#include "common/course/student_files.h"
#include "common/report/read_file.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

/// The file that an #include line in quotes names; empty where the line is none.
std::string included_by(const std::string& line) {
  const std::size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return "";
  const std::size_t word = line.find("include", hash);
  const std::size_t begin = line.find('"', hash);
  if (word == std::string::npos || begin == std::string::npos || begin < word) return "";
  const std::size_t end = line.find('"', begin + 1);
  return end == std::string::npos ? "" : line.substr(begin + 1, end - begin - 1);
}

class WarningFinder {
 public:
  WarningFinder(const CourseTree& tree, const Rubric& lab, const std::map<std::string, std::string>& handed_in)
      : tree_(tree), lab_(lab), handed_in_(handed_in), given_(read_starter_list(tree.root())) {}

  std::vector<std::string> find() {
    if (!given_.empty()) {
      add_list("not handed in, as the assignment does not ask for it", files_that_stay());
      add_list("provided and changed; it is graded as it was handed out", changed_provided_files());
    }
    for (const auto& [name, text] : handed_in_) {
      if (is_below_one_of(name, lab_.hand_in.sources)) look_at_includes(name, text);
    }
    return warnings_;
  }

 private:
  void add_list(const char* what, const std::vector<std::string>& files) {
    if (!files.empty()) warnings_.push_back(fmt::format("{}: {}", what, fmt::join(files, " ")));
  }

  bool is_handed_in(const std::string& path) const {
    const std::string begin = lab_.lab + "/";
    return path.compare(0, begin.size(), begin) == 0 && handed_in_.count(path.substr(begin.size())) != 0;
  }

  std::vector<std::string> files_that_stay() const {
    std::vector<std::string> files;
    for (const std::string& file : files_below(tree_, lab_, ".")) {
      const std::string path = (fs::path(lab_.lab) / file).lexically_normal().generic_string();
      if (given_.count(path) == 0 && !is_handed_in(path)) files.push_back(path);
    }
    return files;
  }

  bool was_changed(const std::string& path) const {
    const std::string now = tree_.root() + "/" + path;
    return !fs::exists(now) || fingerprint_of(read_file(now)) != given_.at(path);
  }

  std::vector<std::string> changed_provided_files() const {
    std::vector<std::string> files;
    for (const auto& [path, fingerprint] : given_) {
      const bool matters = is_below_one_of(path, {"common", lab_.lab}) && !is_student_file(path);
      if (matters && was_changed(path)) files.push_back(path);
    }
    return files;
  }

  /// The file of this tree that an include means, from the root; empty: none, such as a system header.
  std::string resolved(const std::string& from, const std::string& included) const {
    for (const fs::path& base : {fs::path(lab_.lab + "/" + from).parent_path(), fs::path()}) {
      const std::string path = (base / included).lexically_normal().generic_string();
      if (is_inner_path(path) && fs::exists(tree_.root() + "/" + path)) return path;
    }
    return "";
  }

  void look_at_includes(const std::string& name, const std::string& text) {
    for (const std::string& line : lines_of(text)) {
      const std::string included = included_by(line);
      const std::string path = included.empty() ? "" : resolved(name, included);
      if (path.empty() || is_handed_in(path)) continue;
      const bool is_new = given_.empty() ? is_student_file(path) : given_.count(path) == 0;
      if (is_new) {
        warnings_.push_back(fmt::format(
            "{}/{} includes {}, which is not handed in: it will not compile when it is graded", lab_.lab, name, path));
      }
    }
  }

  const CourseTree& tree_;
  const Rubric& lab_;
  const std::map<std::string, std::string>& handed_in_;
  const std::map<std::string, std::string> given_;
  std::vector<std::string> warnings_;
};

}  // namespace

std::vector<std::string> hand_in_warnings(const CourseTree& tree, const Rubric& lab,
                                          const std::map<std::string, std::string>& handed_in) {
  return WarningFinder(tree, lab, handed_in).find();
}

}  // namespace lab
