#include "grading/batch/class_late_days.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <tuple>

#include "common/base/errors.h"
#include "common/base/lab_names.h"
#include "common/base/option_value.h"
#include "common/base/text.h"
#include "common/course/rubric/rubric_check.h"

namespace lab::grading {
namespace {

Student student_of(const MarkedStudent& student, const Roster* roster) {
  const bool is_in_roster = roster != nullptr && student.roster_row;
  return {id_of(roster, student), is_in_roster ? roster->name_of(*student.roster_row) : student.identity.name, ""};
}

bool same_word(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Whether an extension is this student's.
bool is_called(const MarkedStudent& student, const std::string& name, const Roster* roster) {
  if (roster != nullptr && student.roster_row) return roster->find({name, name, name}) == student.roster_row;
  const std::vector<std::string> names = {student.who, student.identity.id, student.identity.name};
  return std::any_of(names.begin(), names.end(), [&](const std::string& one) { return same_word(one, name); });
}

std::vector<std::string> extend(const std::map<std::string, LatePolicy>& policies, const Roster* roster,
                                std::vector<MarkedStudent>& students) {
  std::vector<std::string> notes;
  for (const auto& [lab, policy] : policies) {
    for (const auto& [name, due] : policy.extensions) {
      bool found = false;
      for (MarkedStudent& student : students) {
        if (!is_called(student, name, roster)) continue;
        student.handed_in[lab].extended_to = due;
        found = true;
      }
      if (!found)
        notes.push_back(fmt::format("{}: the extension of {} is no student's of this class", short_name_of(lab),
                                    option::quoted(name)));
    }
  }
  return notes;
}

void share(const std::map<std::string, LatePolicy>& policies, MarkedStudent& student) {
  std::vector<LateLab> labs;
  for (const auto& [lab, policy] : policies) labs.push_back({lab, policy, student.handed_in[lab]});
  share_free_days(labs);
  for (const LateLab& one : labs) student.handed_in[one.lab] = one.handed_in;
}

}  // namespace

HandInTimes::HandInTimes(const Roster& table, const std::string& path, const std::vector<std::string>& labs)
    : table_(table) {
  times_.resize(table_.size());
  bool any_lab = false;
  for (const std::string& lab : labs) {
    auto column = table_.column(short_name_of(lab));
    if (!column) column = table_.column(lab);
    if (!column) continue;
    any_lab = true;
    for (std::size_t row = 0; row < table_.size(); ++row) {
      const std::string cell = one_line(table_.row(row)[*column]);
      if (!cell.empty())
        times_[row][lab] =
            moment_of(cell, fmt::format("{}: {} of {}", path, table_.headings()[*column], table_.id_of(row)));
    }
  }
  if (!any_lab)
    throw UsageError(fmt::format("{}: expected a column for each lab, such as {}, got {}", path,
                                 labs.empty() ? "a9" : short_name_of(labs.front()),
                                 fmt::join(table_.headings(), ", ")));
}

std::map<std::string, Moment> HandInTimes::of(const Student& student) const {
  const auto row = table_.find(student);
  return row ? times_[*row] : std::map<std::string, Moment>();
}

std::vector<std::string> complete_hand_in_times(const std::map<std::string, LatePolicy>& policies, const Roster* roster,
                                                const HandInTimes* times, std::vector<MarkedStudent>& students) {
  std::map<std::string, std::vector<std::string>> unknown;  // by lab
  for (MarkedStudent& student : students) {
    const Student called = student_of(student, roster);
    for (const auto& [lab, handed_in] : student.handed_in) {
      if (policies.count(lab) != 0 && !handed_in.at) unknown[lab].push_back(called.id);
    }
    if (times == nullptr) continue;
    for (const auto& [lab, at] : times->of(called)) {
      auto& without = unknown[lab];
      without.erase(std::remove(without.begin(), without.end(), called.id), without.end());
      student.handed_in[lab].at = at;
    }
  }
  std::vector<std::string> notes = extend(policies, roster, students);
  for (MarkedStudent& student : students) share(policies, student);
  for (const auto& [lab, who] : unknown) {
    if (!who.empty())
      notes.push_back(fmt::format("{}: when {} handed in is unknown, and nothing is deducted for late days: {}",
                                  short_name_of(lab), counted(who.size(), "student"), fmt::join(who, ", ")));
  }
  return notes;
}

HandedIn together(const std::vector<HandedIn>& students) {
  const auto known = [](const HandedIn& one) {
    const auto seconds = [](const std::optional<Moment>& moment) {
      return moment ? std::optional(moment->seconds) : std::nullopt;
    };
    return std::make_tuple(seconds(one.at), seconds(one.extended_to), one.free_days_left);
  };
  HandedIn all = students.empty() ? HandedIn() : students.front();
  all.differs = std::any_of(students.begin(), students.end(),
                            [&](const HandedIn& one) { return known(one) != known(students.front()); });
  return all;
}

}  // namespace lab::grading
