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

namespace lab::grading {
namespace {

bool same_word(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Whom a table or an extension names: several rows of a student who has handed in by several names, or nobody.
std::vector<MarkedStudent*> students_named(const Student& named, const Roster* roster,
                                           std::vector<MarkedStudent>& students) {
  const std::optional<std::size_t> row = roster == nullptr ? std::nullopt : roster->find(named);
  const auto is_one_of = [](const std::string& name, const std::vector<std::string>& names) {
    return !name.empty() &&
           std::any_of(names.begin(), names.end(), [&](const std::string& one) { return same_word(one, name); });
  };
  std::vector<MarkedStudent*> found;
  for (MarkedStudent& student : students) {
    const bool is_named = student.roster_row ? student.roster_row == row
                                             : is_one_of(named.id, {student.who, student.identity.id}) ||
                                                   is_one_of(named.name, {student.identity.name});
    if (is_named) found.push_back(&student);
  }
  return found;
}

std::vector<std::string> extend(const std::map<std::string, LatePolicy>& policies, const Roster* roster,
                                std::vector<MarkedStudent>& students) {
  std::vector<std::string> notes;
  for (const auto& [lab, policy] : policies) {
    for (const auto& [name, due] : policy.extensions) {
      const std::vector<MarkedStudent*> found = students_named({name, name, name}, roster, students);
      for (MarkedStudent* student : found) student->handed_in[lab].extended_to = due;
      if (found.empty())
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

HandInTimes::HandInTimes(const Roster& table, const std::string& path, const std::vector<std::string>& labs) {
  for (std::size_t row = 0; row < table.size(); ++row)
    rows_.push_back({{table.id_of(row), table.name_of(row), ""}, {}});
  bool any_lab = false;
  for (const std::string& lab : labs) {
    auto column = table.column(short_name_of(lab));
    if (!column) column = table.column(lab);
    if (!column) continue;
    any_lab = true;
    for (std::size_t row = 0; row < table.size(); ++row) {
      const std::string cell = one_line(table.row(row)[*column]);
      if (!cell.empty())
        rows_[row].times[lab] =
            moment_of(cell, fmt::format("{}: {} of {}", path, table.headings()[*column], table.id_of(row)));
    }
  }
  if (!any_lab)
    throw UsageError(fmt::format("{}: expected a column for each lab, such as {}, got {}", path,
                                 labs.empty() ? "a9" : short_name_of(labs.front()), fmt::join(table.headings(), ", ")));
}

std::vector<std::string> complete_hand_in_times(const std::map<std::string, LatePolicy>& policies, const Roster* roster,
                                                const HandInTimes* times, std::vector<MarkedStudent>& students) {
  for (const HandInTimes::Row& row : times == nullptr ? std::vector<HandInTimes::Row>() : times->rows()) {
    if (row.times.empty()) continue;
    for (MarkedStudent* student : students_named(row.student, roster, students)) {
      for (const auto& [lab, at] : row.times) student->handed_in[lab].at = at;
    }
  }
  std::map<std::string, std::vector<std::string>> unknown;  // by lab
  for (const MarkedStudent& student : students) {
    for (const auto& [lab, handed_in] : student.handed_in) {
      if (policies.count(lab) != 0 && !handed_in.at) unknown[lab].push_back(id_of(roster, student));
    }
  }
  std::vector<std::string> notes = extend(policies, roster, students);
  for (MarkedStudent& student : students) share(policies, student);
  for (const auto& [lab, who] : unknown)
    notes.push_back(fmt::format("{}: when {} handed in is unknown, and nothing is deducted for late days: {}",
                                short_name_of(lab), counted(who.size(), "student"), fmt::join(who, ", ")));
  return notes;
}

HandedIn together(const LatePolicy* policy, const std::vector<HandedIn>& students) {
  HandedIn all = students.empty() ? HandedIn() : students.front();
  if (policy == nullptr) return all;
  const auto cost = [&](const HandedIn& one) {
    const Lateness late = lateness_of(*policy, one);
    return std::make_tuple(late.state, late.due.seconds, late.days, late.free_days, late.percent);
  };
  for (const HandedIn& one : students) {
    all.several = all.several || one.free_days_left != all.free_days_left;
    all.differs = all.differs || cost(one) != cost(students.front());
  }
  return all;
}

}  // namespace lab::grading
