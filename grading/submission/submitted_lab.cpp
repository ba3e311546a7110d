#include "grading/submission/submitted_lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "common/course/hand_in/entry_path.h"
#include "common/course/hand_in/hand_in_names.h"
#include "common/course/hand_in/identity.h"
#include "common/course/starter/answer_template.h"
#include "common/course/starter/snippets.h"
#include "grading/submission/file_names.h"
#include "grading/submission/submission.h"

namespace lab::grading {
namespace {

/// Sorts the files of one lab.
class Sorter {
 public:
  explicit Sorter(const KnownLab& lab) : lab_(lab), names_(hand_in_names(lab.rubric, lab.student_files)) {
    found_.lab = lab.rubric.lab;
  }

  void sort(const std::string& path, const std::string& bytes) {
    if (std::find(names_.sources.begin(), names_.sources.end(), path) != names_.sources.end()) {
      take(found_.sources, path, take_source(bytes));
    } else if (names_.is_answer(path)) {
      take(found_.answers, path, take_answer(path, bytes));
    } else if (lab_.other_files.count(path) != 0) {
      ++num_given_;
    } else {
      others_.push_back(path);
    }
  }

  /// Takes the sources of a hand-in that is one markdown with the code in it.
  void sort_snippets() {
    for (const auto& [name, text] : std::map<std::string, std::string>(found_.answers)) {
      if (!is_markdown(name)) continue;
      try {
        const std::map<std::string, std::string> snippets = find_snippets(text, name);
        for (const auto& [path, code] : snippets) sort(path, code);
        if (snippets.empty() && text.find("```cpp") != std::string::npos) {
          found_.notes.push_back(
              fmt::format("the code in '{}' is not read, as its blocks do not name their files; "
                          "expected blocks that begin with ```cpp {}",
                          name, names_.sources.empty() ? "student/..." : names_.sources.front()));
        }
      } catch (const UsageError& error) {
        found_.notes.push_back(fmt::format("its code is not read: {}", error.what()));
      }
    }
  }

  /// An untouched template is not worth a person's time; the code in it has been taken by now.
  void leave_out_untouched_templates() {
    for (const auto& [name, form] : lab_.templates) {
      const auto answer = found_.answers.find(name);
      if (answer == found_.answers.end() || !is_untouched(answer->second, form)) continue;
      found_.notes.push_back(fmt::format("'{}' is still the untouched template; it counts as missing", name));
      found_.answers.erase(answer);
    }
  }

  SubmittedLab finish() {
    leave_out_untouched_templates();
    const std::vector<std::string> missing = missing_files();
    std::vector<std::string> unknown;
    constexpr std::size_t kMaxLookedAt = 200;  // among thousands, there is no typo to find
    for (std::size_t i = 0; i < others_.size(); ++i) {
      const std::optional<std::string> meant = i < kMaxLookedAt ? meant_file(others_[i], missing) : std::nullopt;
      if (meant) {
        found_.notes.push_back(
            fmt::format("'{}' is not used; is it meant to be '{}'?", printable_name(others_[i]), *meant));
      } else {
        unknown.push_back(others_[i]);
      }
    }
    if (!missing.empty()) found_.notes.push_back("missing: " + name_list(missing));
    if (!unknown.empty())
      found_.notes.push_back(fmt::format("not used, as the hand-in does not ask for it: {}", name_list(unknown)));
    if (num_given_ > 0)
      found_.notes.push_back(fmt::format("{} files that were handed out are there, too, and are not used", num_given_));
    return std::move(found_);
  }

 private:
  void take(std::map<std::string, std::string>& to, const std::string& path, TakenFile file) {
    handed_in_.insert(path);
    if (!file.fault.empty()) {
      found_.notes.push_back(fmt::format("'{}' {}; it counts as missing", path, file.fault));
      return;
    }
    if (!file.note.empty()) found_.notes.push_back(fmt::format("'{}' {}", path, file.note));
    if (is_markdown(path)) {
      SignedMarkdown signed_text = split_identity(file.bytes);
      if (signed_text.identity) found_.identity = signed_text.identity;
      file.bytes = std::move(signed_text.text);
    }
    to[path] = std::move(file.bytes);
  }

  std::vector<std::string> missing_files() const {
    std::vector<std::string> missing;
    for (const std::string& source : names_.sources) {
      if (handed_in_.count(source) == 0) missing.push_back(source);
    }
    for (const std::string& answer : missing_answers(lab_.rubric, handed_in_)) missing.push_back(answer);
    return missing;
  }

  const KnownLab& lab_;
  const HandInNames names_;
  SubmittedLab found_;
  std::set<std::string> handed_in_;  ///< usable or not
  std::vector<std::string> others_;
  std::size_t num_given_ = 0;
};

}  // namespace

SubmittedLab take_lab(const KnownLab& lab, const std::map<std::string, std::string>& files) {
  Sorter sorter(lab);
  for (const auto& [path, bytes] : files) sorter.sort(path, bytes);
  const auto first_source = files.lower_bound("student/");
  const bool has_student_folder = first_source != files.end() && first_source->first.rfind("student/", 0) == 0;
  if (!has_student_folder) sorter.sort_snippets();
  return sorter.finish();
}

}  // namespace lab::grading
