#include "common/course/hand_in.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <set>

#include "common/course/answer_template.h"
#include "common/course/hand_in_cost.h"
#include "common/course/hand_in_names.h"
#include "common/course/hand_in_warnings.h"
#include "common/course/snippets.h"
#include "common/course/utf8_text.h"
#include "common/report/read_file.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

class HandInCollector {
 public:
  HandInCollector(const CourseTree& tree, const Rubric& lab) : tree_(tree), lab_(lab), names_(tree, lab) {}

  HandIn collect() {
    for (const std::string& source : names_.sources()) {
      if (!add_file(source)) add_problem(source, "is missing", "; hint: .lab-pristine/ has it as it was handed out");
    }
    std::set<std::string> handed_in;
    for (const auto* names : {&lab_.hand_in.answers, &names_.also()}) {
      for (const std::string& name : *names) {
        if (add_file(name)) handed_in.insert(name);
      }
    }
    for (const std::string& answer : lab_.hand_in.answers) check_template(answer);
    for (const std::string& answer : missing_answers(lab_, handed_in)) add_missing_answer(answer);
    check_pictures();
    for (const std::string& warning : hand_in_warnings(tree_, lab_, hand_in_.files)) {
      hand_in_.warnings.push_back(warning);
    }
    if (!lab_.hand_in.snippets_in.empty()) move_sources_into_answer();
    return hand_in_;
  }

 private:
  bool exists(const std::string& name) const { return fs::is_regular_file(tree_.folder_of(lab_) + "/" + name); }
  std::string read(const std::string& name) const { return read_file(tree_.folder_of(lab_) + "/" + name); }

  /// "a9_collectives/x.md is missing, which costs up to 12 marks; hint: ..."
  void add_problem(const std::string& name, const std::string& what, const std::string& hint = "") {
    hand_in_.problems.push_back(fmt::format("{}/{} {}, which {}{}", lab_.lab, name, what, cost_of(lab_, name), hint));
  }

  /// False: it is not there.
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

  void check_template(const std::string& name) {
    const std::string form = template_of(name);
    const auto file = hand_in_.files.find(name);
    if (file != hand_in_.files.end() && exists(form) && is_untouched(file->second, read(form)))
      add_problem(name, "is still the untouched template");
  }

  void add_missing_answer(const std::string& name) {
    const std::string form = template_of(name);
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
                                                  lab_.lab, answer, picture, fmt::join(names_.also(), " ")));
        }
      }
    }
  }

  /// Without the answer, its template takes the code, which must not be lost with it.
  void move_sources_into_answer() {
    const std::string& name = lab_.hand_in.snippets_in;
    if (hand_in_.files.count(name) == 0)
      hand_in_.files[name] = exists(template_of(name)) ? read(template_of(name)) : "";
    std::map<std::string, std::string> sources;
    for (const std::string& source : names_.sources()) {
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
};

}  // namespace

HandIn collect_hand_in(const CourseTree& tree, const Rubric& lab) {
  return HandInCollector(tree, lab).collect();
}

}  // namespace lab
