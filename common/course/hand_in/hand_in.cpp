#include "common/course/hand_in/hand_in.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/base/utf8_text.h"
#include "common/course/course_tree.h"
#include "common/course/hand_in/archive.h"
#include "common/course/hand_in/hand_in_names.h"
#include "common/course/hand_in/identity.h"
#include "common/course/hand_in/lost_marks.h"
#include "common/course/rubric/rubric.h"
#include "common/course/rubric/rubric_check.h"
#include "common/course/starter/answer_template.h"
#include "common/course/starter/snippets.h"
#include "common/course/starter/starter_tree.h"
#include "common/course/student_files.h"
#include "common/log/check_log.h"
#include "common/log/expected_run.h"
#include "common/log/plain_log.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

constexpr int kRanks = 4;  // of the run that an assignment asks for

/// The file that an #include line in quotes names; empty where the line is none.
std::string included_by(const std::string& line) {
  const std::size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return "";
  const std::size_t keyword = line.find("include", hash);
  const std::size_t begin = line.find('"', hash);
  if (keyword == std::string::npos || begin == std::string::npos || begin < keyword) return "";
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
      if (is_below_any(name, lab_.hand_in.sources)) look_at_includes(name, text);
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
    return !fs::exists(now) || compute_fingerprint(read_file(now)) != given_.at(path);
  }

  std::vector<std::string> changed_provided_files() const {
    std::vector<std::string> files;
    for (const auto& [path, fingerprint] : given_) {
      const bool matters = is_below_any(path, {"common", lab_.lab}) && !is_student_file(path);
      if (matters && was_changed(path)) files.push_back(path);
    }
    return files;
  }

  /// The file of this tree that an include refers to, from the root; empty: none, such as a system header.
  std::string resolved(const std::string& from, const std::string& included) const {
    for (const fs::path& base : {fs::path(lab_.lab + "/" + from).parent_path(), fs::path()}) {
      const std::string path = (base / included).lexically_normal().generic_string();
      if (is_inner_path(path) && fs::exists(tree_.root() + "/" + path)) return path;
    }
    return "";
  }

  void look_at_includes(const std::string& name, const std::string& text) {
    for (const std::string& line : list_lines(text)) {
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

/// What may surprise a student when these files are graded in a pristine tree, one message each: files of the lab that
/// are not handed in, provided files that were changed, and sources that include one of these. In a tree that is not a
/// starter it is unknown what was provided, and only the includes are checked.
std::vector<std::string> hand_in_warnings(const CourseTree& tree, const Rubric& lab,
                                          const std::map<std::string, std::string>& handed_in) {
  return WarningFinder(tree, lab, handed_in).find();
}

/// The tasks and manual items that a file is for.
std::set<std::string> list_items(const Rubric& lab, const std::string& file) {
  std::set<std::string> items;
  for (const RubricTask& task : lab.tasks) {
    if (is_below_any(file, {task.file})) items.insert(task.id);
  }
  for (const RubricManual& manual : lab.manuals) {
    if (manual.file == file) items.insert(manual.id);
  }
  return items;
}

class HandInCollector {
 public:
  HandInCollector(const CourseTree& tree, const Rubric& lab)
      : tree_(tree), lab_(lab), names_(hand_in_names(tree, lab)) {}

  HandIn collect() {
    for (const std::string& source : names_.sources) {
      if (!add_file(source)) add_problem(source, "is missing", "; hint: .lab-pristine/ has it as it was handed out");
    }
    check_todos();
    std::set<std::string> handed_in;
    for (const auto* names : {&names_.answers, &names_.also}) {
      for (const std::string& name : *names) {
        if (add_file(name)) handed_in.insert(name);
      }
    }
    for (const std::string& answer : lab_.hand_in.answers) {
      check_template(answer);
      if (fs::path(answer).extension() == ".log") check_log(answer);
    }
    for (const std::string& answer : missing_answers(lab_, handed_in)) add_missing_answer(answer);
    check_pictures();
    for (const std::string& warning : hand_in_warnings(tree_, lab_, hand_in_.files)) {
      hand_in_.warnings.push_back(warning);
    }
    if (!lab_.hand_in.snippets_in.empty()) move_sources_into_answer();
    return hand_in_;
  }

 private:
  bool exists(const std::string& name) const { return fs::is_regular_file(tree_.get_folder(lab_) + "/" + name); }
  std::string read(const std::string& name) const { return read_file(tree_.get_folder(lab_) + "/" + name); }

  /// "a9_collectives/x.md is missing, which costs up to 12 marks; hint: ..."
  void add_problem(const std::string& name, const std::string& what, const std::string& hint = "") {
    hand_in_.problems.push_back(fmt::format("{}/{} {}, which costs {}{}", lab_.lab, name, what,
                                            lost_without(lab_, list_items(lab_, name)).text(), hint));
  }

  /// Returns false if it is missing.
  bool add_file(const std::string& name) {
    if (!exists(name)) return false;
    std::string& bytes = hand_in_.files[name] = read(name);
    if (!is_text_by_name(name)) return true;
    const std::optional<Utf8Text> text = utf8_text(bytes);
    if (!text) {
      add_problem(name, "is not text");
      return true;
    }
    bytes = text->text;
    if (!text->was.empty())
      hand_in_.warnings.push_back(fmt::format("{}/{} is {}; it is handed in as UTF-8", lab_.lab, name, text->was));
    return true;
  }

  /// "student/row.cpp:17", where the task's TODO is; empty: it is gone.
  std::string place_of_todo(const RubricTask& task) const {
    for (const auto& [name, text] : hand_in_.files) {
      const std::size_t line = is_below_any(name, {task.file}) ? line_of_stub(text, task.id) : 0;
      if (line != 0) return fmt::format("{}:{}", name, line);
    }
    return "";
  }

  void check_todos() {
    std::map<std::string, std::string> places;
    std::vector<std::string> todos;  // in the rubric's order
    for (const RubricTask& task : lab_.tasks) {
      const std::string place = place_of_todo(task);
      if (place.empty()) continue;
      places[task.id] = place;
      todos.push_back(task.id);
    }
    const std::map<std::string, LostMarks> lost_by = lost_by_each(lab_, {todos.begin(), todos.end()});
    for (const std::string& task : todos) {
      const LostMarks& lost = lost_by.at(task);
      (lost.marks > 0 ? hand_in_.problems : hand_in_.warnings)
          .push_back(
              fmt::format("{}/{}: {} is still a TODO, which costs {}", lab_.lab, places[task], task, lost.text()));
    }
    only_optional_todos_ = !todos.empty() && lost_without(lab_, {todos.begin(), todos.end()}).marks == 0;
  }

  /// A run that failed leaves a log, too. Where tasks that nobody has to do are left, it cannot be complete.
  void check_log(const std::string& name) {
    const std::string expected = lab_.lab + "/expected_log.txt";
    if (hand_in_.files.count(name) == 0 || !fs::exists(tree_.root() + "/" + expected)) return;
    const std::string text = log::plain_log(hand_in_.files.at(name)).value_or("");
    std::vector<std::string> problems;
    for (const log::ExpectedRun& run : log::expected_runs(read_file(tree_.root() + "/" + expected), expected)) {
      if (run.options.empty()) problems = log::check_log(text, log::expectation_on(run, kRanks));
    }
    if (problems.empty()) return;
    const std::string what = fmt::format("is not the log of a right run on {} ranks", kRanks);
    if (only_optional_todos_) {
      hand_in_.warnings.push_back(fmt::format("{}/{} {}: {}", lab_.lab, name, what, problems.front()));
    } else {
      add_problem(name, what, ": " + problems.front());
    }
  }

  void check_template(const std::string& name) {
    const std::string form = find_template(name);
    const auto file = hand_in_.files.find(name);
    if (file != hand_in_.files.end() && exists(form) && is_untouched(file->second, read(form)))
      add_problem(name, "is still the untouched template");
  }

  void add_missing_answer(const std::string& name) {
    const std::string form = find_template(name);
    if (exists(form)) {
      add_problem(name, "is missing",
                  fmt::format("; hint: cp {0}/{1} {0}/{2}, and write your answers in it", lab_.lab, form, name));
    } else if (lab_needs_run()) {
      add_problem(name, "is missing", "; a run leaves it: " + lab_.hand_in.run);
    } else {
      add_problem(name, "is missing");
    }
  }

  bool lab_needs_run() const { return lab_.hand_in.run.compare(0, 4, "none") != 0; }

  /// Pictures that an answer shows must be there, or the reader sees none.
  void check_pictures() {
    for (const std::string& answer : lab_.hand_in.answers) {
      if (hand_in_.files.count(answer) == 0 || fs::path(answer).extension() != ".md") continue;
      for (const std::string& picture : pictures_in(hand_in_.files.at(answer))) {
        if (!exists(picture)) {
          hand_in_.problems.push_back(fmt::format("{}/{} shows {}, which is not there", lab_.lab, answer, picture));
        } else if (hand_in_.files.count(picture) == 0) {
          hand_in_.warnings.push_back(fmt::format("{}/{} shows {}, which is not handed in; expected one of: {}",
                                                  lab_.lab, answer, picture, fmt::join(names_.also, " ")));
        }
      }
    }
  }

  /// If the answer is missing, its template takes the code, which must not be lost with it.
  void move_sources_into_answer() {
    const std::string& name = lab_.hand_in.snippets_in;
    if (hand_in_.files.count(name) == 0)
      hand_in_.files[name] = exists(find_template(name)) ? read(find_template(name)) : "";
    std::map<std::string, std::string> sources;
    for (const std::string& source : names_.sources) {
      const auto file = hand_in_.files.find(source);
      if (file == hand_in_.files.end()) continue;
      sources.insert(*file);
      hand_in_.files.erase(file);
    }
    std::string& answer = hand_in_.files[name];
    answer = with_snippets(answer, sources);
  }

  const CourseTree& tree_;
  const Rubric& lab_;
  const HandInNames names_;
  HandIn hand_in_;
  bool only_optional_todos_ = false;
};

constexpr char kSubmissionFolder[] = "submission";

namespace fs = std::filesystem;

/// What a run may leave: answers that are not written by hand, and what goes with answers.
std::vector<std::string> names_of_results(const CourseTree& tree, const Rubric& lab) {
  std::vector<std::string> names;
  for (const std::string& answer : lab.hand_in.answers) {
    if (!fs::exists(tree.get_folder(lab) + "/" + find_template(answer))) names.push_back(answer);
  }
  const std::vector<std::string> also = hand_in_names(tree, lab).also;
  names.insert(names.end(), also.begin(), also.end());
  return names;
}

/// True if the file is there, and no student file was changed after it.
bool is_up_to_date(const CourseTree& tree, const Rubric& lab, const std::string& path) {
  if (!fs::exists(path)) return false;
  const auto time = fs::last_write_time(path);
  for (const std::string& file : student_files(tree, lab)) {
    if (fs::last_write_time(tree.get_folder(lab) + "/" + file) > time) return false;
  }
  return true;
}

}  // namespace

HandIn collect_hand_in(const CourseTree& tree, const Rubric& lab) {
  return HandInCollector(tree, lab).collect();
}

std::vector<std::string> write_hand_in(const CourseTree& tree, const Rubric& lab, const HandIn& hand_in) {
  make_folder("submit", tree.root() + "/" + kSubmissionFolder);
  const Identity identity = load_identity(tree.root());
  std::vector<std::string> written;
  if (lab.hand_in.snippets_in.empty()) {
    std::map<std::string, std::string> packed;
    for (const auto& [name, bytes] : hand_in.files) packed[lab.lab + "/" + name] = bytes;
    if (!identity.empty()) packed[kIdentityInHandIn] = to_toml(identity);
    written.push_back(std::string(kSubmissionFolder) + "/" + lab.lab + ".zip");
    write_zip(tree.root() + "/" + written.back(), packed);
    return written;
  }
  for (const auto& [name, bytes] : hand_in.files) {
    written.push_back(std::string(kSubmissionFolder) + "/" + std::filesystem::path(name).filename().string());
    const bool is_signed = name == lab.hand_in.snippets_in && !identity.empty();
    write_file_atomically(tree.root() + "/" + written.back(), is_signed ? with_identity(bytes, identity) : bytes);
  }
  return written;
}

bool needs_run(const CourseTree& tree, const Rubric& lab) {
  if (lab.hand_in.run.compare(0, 4, "none") == 0) return false;
  for (const std::string& name : names_of_results(tree, lab)) {
    if (!is_up_to_date(tree, lab, tree.get_folder(lab) + "/" + name) &&
        !is_up_to_date(tree, lab, tree.root() + "/" + name))
      return true;
  }
  return false;
}

std::vector<std::string> take_results(const CourseTree& tree, const Rubric& lab, const std::string& results) {
  std::vector<std::string> taken;
  for (const std::string& name : names_of_results(tree, lab)) {
    const std::string from = results + "/" + name, to = tree.get_folder(lab) + "/" + name;
    if (!fs::is_regular_file(from) || !is_up_to_date(tree, lab, from) || is_up_to_date(tree, lab, to)) continue;
    const std::string bytes = read_file(from);
    if (fs::exists(to) && read_file(to) != bytes) keep_backup(tree.root(), lab.lab + "/" + name, read_file(to));
    write_file_atomically(to, bytes);
    taken.push_back(lab.lab + "/" + name);
  }
  return taken;
}

}  // namespace lab
