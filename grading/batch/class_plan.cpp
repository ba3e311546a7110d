#include "grading/batch/class_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/errors.h"
#include "common/base/text.h"

namespace lab::grading {
namespace {

/// Whom the platform or the roster names; empty: neither does.
Identity named_student(const PlannedHandIn& planned, const Roster* roster) {
  Identity identity;
  if (!planned.hand_in.students.empty()) {
    const Student& student = planned.hand_in.students.front();
    identity = {student.name, student.id.empty() ? student.email : student.id};
  }
  if (!planned.roster_rows.empty()) {
    identity.id = roster->id_of(planned.roster_rows.front());
    if (const std::string name = roster->name_of(planned.roster_rows.front()); !name.empty()) identity.name = name;
  }
  return identity;
}

/// A student who signed with another one's id may have handed in another one's work.
void compare_signature(PlannedHandIn& planned, const Roster* roster) {
  const Identity& signature = planned.scanned.identity;
  if (roster == nullptr || signature.empty() || planned.roster_rows.empty()) return;
  const auto signer = roster->find({signature.id, signature.name, ""});
  if (!signer ||
      std::find(planned.roster_rows.begin(), planned.roster_rows.end(), *signer) != planned.roster_rows.end())
    return;
  planned.notes.push_back(fmt::format("{} is signed by {}, and was handed in by {}", planned.hand_in.shown,
                                      to_text(signature), to_text(planned.identity)));
}

void find_owners(PlannedHandIn& planned, const Roster* roster) {
  const Identity& signature = planned.scanned.identity;
  std::vector<Student> students = planned.hand_in.students;
  if (students.empty() && !signature.empty()) students = {{signature.id, signature.name, ""}};
  for (const Student& student : students) {
    if (roster == nullptr) break;
    if (const auto row = roster->find(student)) planned.roster_rows.push_back(*row);
  }
  planned.identity = named_student(planned, roster);
  if (planned.identity.empty()) planned.identity = signature;
  compare_signature(planned, roster);
}

/// Of the hand-ins for the same lab of the same student, only the last keeps it.
void keep_last_versions(std::vector<PlannedHandIn>& hand_ins) {
  std::map<std::pair<std::string, std::string>, PlannedHandIn*> last;  // by student and lab
  const auto is_later = [](const HandIn& a, const HandIn& b) {
    return std::make_pair(a.version, a.shown) > std::make_pair(b.version, b.shown);
  };
  for (PlannedHandIn& one : hand_ins) {
    for (const auto& [lab, version] : one.scanned.versions) {
      PlannedHandIn*& kept = last[{one.who, lab}];
      PlannedHandIn* replaced = kept;
      if (kept == nullptr || is_later(one.hand_in, kept->hand_in)) {
        kept = &one;
      } else {
        replaced = &one;
      }
      if (replaced != nullptr && replaced != kept)
        replaced->notes.push_back(
            fmt::format("{}: {} was handed in again: {} counts", replaced->hand_in.shown, lab, kept->hand_in.shown));
    }
  }
  for (const auto& [place, kept] : last) kept->labs.push_back(place.second);
}

bool is_called(const PlannedHandIn& one, const std::string& name) {
  std::vector<std::string> names = {one.who, one.identity.id, one.identity.name, one.hand_in.shown};
  for (const Student& student : one.hand_in.students)
    names.insert(names.end(), {student.id, student.name, student.email});
  return std::find(names.begin(), names.end(), name) != names.end();
}

void require_known(const std::vector<std::string>& only, const ClassPlan& plan) {
  for (const std::string& name : only) {
    std::vector<std::string> known;
    const bool found = std::any_of(plan.hand_ins.begin(), plan.hand_ins.end(), [&](const PlannedHandIn& one) {
      known.push_back(one.who);
      return is_called(one, name);
    });
    if (!found)
      throw UsageError(
          fmt::format("--only {}: expected a student's id or name, or a hand-in{}", name, did_you_mean(name, known)));
  }
}

}  // namespace

ClassPlan plan_class(const HandIns& hand_ins, const std::vector<ScannedHandIn>& scanned, const Roster* roster,
                     const std::function<std::string(const HandIn&, const Identity&)>& folder_of) {
  ClassPlan plan;
  std::set<std::size_t> seen;
  for (std::size_t i = 0; i < hand_ins.found.size(); ++i) {
    PlannedHandIn planned;
    planned.hand_in = hand_ins.found[i];
    planned.scanned = scanned[i];
    find_owners(planned, roster);
    seen.insert(planned.roster_rows.begin(), planned.roster_rows.end());
    planned.who = folder_of(planned.hand_in, planned.identity);
    plan.hand_ins.push_back(std::move(planned));
  }
  keep_last_versions(plan.hand_ins);
  for (std::size_t row = 0; roster != nullptr && row < roster->size(); ++row) {
    if (seen.count(row) == 0) plan.missing.push_back(row);
  }
  return plan;
}

void choose_due(ClassPlan& plan, const ClassChoice& choice, const std::vector<StoredResult>& stored,
                const std::map<std::string, std::string>& judging) {
  require_known(choice.only, plan);
  std::map<std::pair<std::string, std::string>, const StoredResult*> results;
  for (const StoredResult& one : stored) results[{one.who, one.lab}] = &one;
  for (PlannedHandIn& one : plan.hand_ins) {
    const bool chosen =
        choice.only.empty() || std::any_of(choice.only.begin(), choice.only.end(),
                                           [&](const std::string& name) { return is_called(one, name); });
    for (const std::string& lab : one.labs) {
      const auto found = results.find({one.who, lab});
      const bool is_new = found == results.end();
      const bool other_files = is_new || found->second->version != one.scanned.versions.at(lab);
      const bool decided_now = chosen && (choice.again || choice.decisions.any());
      if (decided_now) {
        one.decisions[lab] = choice.decisions;
      } else if (!other_files) {
        one.decisions[lab] = decisions_in(found->second->judging);
      }
      one.judging[lab] = judging_with(judging.at(lab), one.decisions[lab]);
      const bool differs = other_files || found->second->judging != one.judging[lab];
      const bool wanted = choice.again || (choice.changed ? differs && !is_new : differs);
      if (chosen && wanted) one.due.push_back(lab);
    }
  }
}

std::string code_key(const PlannedHandIn& one, const std::string& lab) {
  return fmt::format("{} {} {}", lab, one.scanned.codes.at(lab), one.judging.at(lab));
}

GradingRounds rounds_of(const ClassPlan& plan, const std::vector<std::size_t>& to_do,
                        const std::vector<StoredResult>& stored) {
  std::map<std::pair<std::string, std::string>, const StoredResult*> results;
  for (const StoredResult& one : stored) results[{one.who, one.lab}] = &one;
  GradingRounds rounds;
  for (const PlannedHandIn& one : plan.hand_ins) {
    for (const std::string& lab : one.labs) {
      const auto found = results.find({one.who, lab});
      const bool is_current = found != results.end() && found->second->version == one.scanned.versions.at(lab) &&
                              found->second->judging == one.judging.at(lab);
      if (is_current) rounds.sources.emplace(code_key(one, lab), one.who);
    }
  }
  for (const std::size_t i : to_do) {
    const PlannedHandIn& one = plan.hand_ins[i];
    const bool is_known = std::all_of(one.due.begin(), one.due.end(), [&](const std::string& lab) {
      return rounds.sources.count(code_key(one, lab)) != 0;
    });
    (is_known ? rounds.same_code : rounds.own_code).push_back(i);
    if (is_known) continue;
    for (const std::string& lab : one.due) rounds.sources.emplace(code_key(one, lab), one.who);
  }
  return rounds;
}

}  // namespace lab::grading
