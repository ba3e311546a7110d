#include "grading/batch/anonymous_export.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <utility>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/random_token.h"
#include "common/base/text.h"
#include "common/course/rubric/keyed_hash.h"
#include "grading/batch/class_overview.h"
#include "grading/marks/outcome_json.h"
#include "grading/marks/writers.h"

namespace lab::grading {
namespace {

constexpr std::size_t kKeyDigits = 32;

/// Of the whole text, which must be hexadecimal digits.
bool read_hexadecimal(std::string_view digits, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return error == std::errc() && end == digits.data() + digits.size();
}

/// By its pseudonym, a student as an export has it, and the one that it is.
std::map<std::string, std::pair<MarkedStudent, const MarkedStudent*>> by_pseudonym(
    const Pseudonyms& pseudonyms, const Roster* roster, const std::vector<MarkedStudent>& students) {
  std::map<std::string, std::pair<MarkedStudent, const MarkedStudent*>> all;
  for (const MarkedStudent& student : students) {
    const std::string id = id_of(roster, student);
    std::string pseudonym = pseudonyms.of(id);
    if (all.count(pseudonym) != 0) pseudonym = pseudonyms.of(id + "\n" + student.who);  // by two names in the class
    MarkedStudent exported;
    exported.identity.id = exported.who = pseudonym;
    exported.is_late = student.is_late;
    for (const auto& [lab, marks] : student.labs) exported.labs[lab] = anonymous(marks);
    all[pseudonym] = {std::move(exported), &student};
  }
  return all;
}

}  // namespace

Pseudonyms::Pseudonyms(const std::string& key, const std::string& path) : key_{} {
  const std::string_view digits = without_line_break(key);
  if (digits.size() != kKeyDigits || !read_hexadecimal(digits.substr(0, kKeyDigits / 2), key_[0]) ||
      !read_hexadecimal(digits.substr(kKeyDigits / 2), key_[1]))
    throw UsageError(fmt::format("{}: expected a key of {} hexadecimal digits, got something else", path, kKeyDigits));
}

Pseudonyms Pseudonyms::kept_in(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    write_file_atomically(path, random_token() + "\n");
    using Permissions = std::filesystem::perms;
    std::filesystem::permissions(path, Permissions::owner_read | Permissions::owner_write);
  }
  return {read_file(path), path};
}

std::string Pseudonyms::of(const std::string& student) const {
  return fmt::format("p{:016x}", keyed_hash(key_, student));
}

LabMarks anonymous(LabMarks marks) {
  for (MarkedItem& item : marks.items) {
    item.findings.clear();
    item.suggestion.clear();
    item.question.clear();
    item.attached.clear();
    item.version.clear();
  }
  if (marks.late) marks.late->at.reset();
  return marks;
}

LabOutcome anonymous(LabOutcome outcome) {
  LabOutcome exported;
  exported.lab = outcome.lab;
  exported.isolation = outcome.isolation;
  exported.seconds = outcome.seconds;
  for (auto& [id, task] : outcome.tasks) {
    task.reason.clear();
    task.stand_in.clear();
    for (CheckOutcome& check : task.checks) {
      check.reason.clear();
      check.timeline.clear();  // names operations, files and lines of the student's code
    }
    exported.tasks[id] = std::move(task);
  }
  return exported;
}

void export_anonymously(const Pseudonyms& pseudonyms, const Roster* roster, const std::vector<MarkedStudent>& students,
                        const std::vector<std::string>& labs, const AnonymousExport& to) {
  ClassOverview overview;
  std::vector<MarkedStudent> exported;
  std::map<std::string, std::string> seen;  // folder of results -> the first of its students, by whom it is counted
  for (auto& [pseudonym, both] : by_pseudonym(pseudonyms, roster, students)) {
    auto& [student, original] = both;
    for (const auto& [lab, marks] : student.labs) {
      const LabOutcome outcome = anonymous(to.outcome_of(*original, lab));
      const std::string folder = pseudonym + "/" + lab;
      to.write(folder + "/outcome.json", outcome_to_json(outcome));
      to.write(folder + "/report.html", to_html(marks, outcome));
      overview.add(seen.emplace(original->who, pseudonym).first->second, marks, outcome);
    }
    exported.push_back(student);
  }
  to.write("marks.csv", marks_csv(nullptr, exported, labs));
  to.write("index.html", overview.html(nullptr, exported, labs, ""));
}

}  // namespace lab::grading
