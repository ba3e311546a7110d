#include "grading/batch/class_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "common/api/errors.h"
#include "common/base/text.h"

namespace lab::grading {
namespace {

constexpr const char* kDecided = " decided ";

/// Whom the platform or the roster names; empty: neither does.
Identity named_student(const PlannedHandIn& planned, const Roster* roster) {
  Identity identity;
  if (!planned.hand_in.students.empty()) {
    const Student& student = planned.hand_in.students.front();
    identity = {student.name, student.id.empty() ? student.email : student.id};
  }
  if (!planned.roster_rows.empty()) {
    identity.id = roster->find_id(planned.roster_rows.front());
    if (const std::string name = roster->get_name(planned.roster_rows.front()); !name.empty()) identity.name = name;
  }
  return identity;
}

/// As students know their own ids: the university's.
Student signed_student(const Identity& signature) {
  return {signature.id, signature.name, "", Student::IdOf::kUniversity};
}

/// A student who signed with another one's id may have handed in another one's work.
void compare_signature(PlannedHandIn& planned, const Roster* roster) {
  const Identity& signature = planned.scanned.identity;
  if (roster == nullptr || signature.empty() || planned.roster_rows.empty()) return;
  const auto signer = roster->find(signed_student(signature)).row;
  if (!signer ||
      std::find(planned.roster_rows.begin(), planned.roster_rows.end(), *signer) != planned.roster_rows.end())
    return;
  planned.notes.push_back(fmt::format("{} is signed by {}, and was handed in by {}", planned.hand_in.shown,
                                      to_text(signature), to_text(planned.identity)));
}

void find_owners(PlannedHandIn& planned, const Roster* roster) {
  const Identity& signature = planned.scanned.identity;
  std::vector<Student> students = planned.hand_in.students;
  if (students.empty() && !signature.empty()) students = {signed_student(signature)};
  for (const Student& student : students) {
    if (roster == nullptr) break;
    const Roster::Found found = roster->find(student);
    std::vector<std::size_t>& rows = planned.roster_rows;
    if (!found.row) {
      planned.open.push_back(fmt::format("{}: {}", planned.hand_in.shown, found.why_not));
    } else if (std::find(rows.begin(), rows.end(), *found.row) == rows.end()) {
      rows.push_back(*found.row);
    }
  }
  if (roster != nullptr && students.empty())
    planned.open.push_back(planned.hand_in.shown +
                           ": nothing says whose it is: neither its name nor a signature in it");
  planned.identity = named_student(planned, roster);
  if (planned.identity.empty()) planned.identity = signature;
  if (planned.identity.empty()) planned.identity.name = planned.hand_in.anonymous;
  compare_signature(planned, roster);
}

/// A signature in one upload of an anonymous student holds for all of that student.
void share_signatures(std::vector<PlannedHandIn>& hand_ins) {
  std::map<std::string, Identity> signatures;
  for (const PlannedHandIn& planned : hand_ins) {
    if (!planned.scanned.identity.empty()) signatures.emplace(planned.hand_in.anonymous, planned.scanned.identity);
  }
  for (PlannedHandIn& planned : hand_ins) {
    if (!planned.hand_in.anonymous.empty() && planned.scanned.identity.empty())
      planned.scanned.identity = signatures[planned.hand_in.anonymous];
  }
}

/// The same for all that one student has handed in.
std::string find_owner(const PlannedHandIn& planned) {
  if (!planned.identity.empty()) return to_toml(planned.identity);
  return planned.hand_in.folder.empty() ? planned.hand_in.shown : planned.hand_in.folder;
}

bool are_in_one_folder(const HandIn& a, const HandIn& b) {
  return !a.folder.empty() && a.folder == b.folder;
}

/// Whether only their signatures say that two hand-ins are of one student.
bool is_only_signed_alike(const HandIn& a, const HandIn& b) {
  const bool same_number = !a.anonymous.empty() && a.anonymous == b.anonymous;
  return a.students.empty() && b.students.empty() && !are_in_one_folder(a, b) && !same_number;
}

/// Of the hand-ins for the same lab of the same student, only the last with code keeps it.
void keep_last_versions(std::vector<PlannedHandIn>& hand_ins) {
  std::map<std::pair<std::string, std::string>, PlannedHandIn*> last;  // by student and lab
  for (PlannedHandIn& planned : hand_ins) {
    for (const auto& [lab, version] : planned.scanned.versions) {
      PlannedHandIn*& kept = last[{find_owner(planned), lab}];
      if (kept == nullptr) {
        kept = &planned;
        continue;
      }
      const auto rank = [of = lab](const PlannedHandIn& of_one) {
        const HandIn& hand_in = of_one.hand_in;
        return std::make_tuple(of_one.scanned.with_code.count(of), hand_in.version,
                               hand_in.kind == HandIn::Kind::kFolder, hand_in.shown);
      };
      const bool is_disputed = kept->disputed.count(lab) != 0 || is_only_signed_alike(planned.hand_in, kept->hand_in);
      PlannedHandIn* replaced = &planned;
      if (rank(planned) > rank(*kept)) std::swap(kept, replaced);
      replaced->notes.push_back(
          fmt::format("{}: {} was handed in again: {} counts", replaced->hand_in.shown, lab, kept->hand_in.shown));
      if (!is_disputed) continue;
      kept->disputed.insert(lab);
      kept->open.push_back(fmt::format("{} and {}: both are signed by {}, and nothing else says whose they are",
                                       kept->hand_in.shown, replaced->hand_in.shown, to_text(kept->identity)));
    }
  }
  for (const auto& [place, kept] : last) kept->labs.push_back(place.second);
}

/// What holds a lab, of the same student or in the same folder; nullptr: nothing does.
PlannedHandIn* readable_next_to(const PlannedHandIn& unreadable, std::vector<PlannedHandIn>& hand_ins) {
  const auto found = std::find_if(hand_ins.begin(), hand_ins.end(), [&](const PlannedHandIn& other) {
    return other.scanned.problem.empty() &&
           (find_owner(other) == find_owner(unreadable) || are_in_one_folder(other.hand_in, unreadable.hand_in));
  });
  return found == hand_ins.end() ? nullptr : &*found;
}

/// Whether what cannot be read need not be looked at: a folder whose files are hand-ins themselves; a picture or a note next
/// to what can be read; anything within a folder that is a hand-in as a whole.
bool can_be_left_out(const PlannedHandIn& unreadable, const PlannedHandIn* readable,
                     const std::vector<PlannedHandIn>& hand_ins) {
  const HandIn& hand_in = unreadable.hand_in;
  const bool has_files = std::any_of(hand_ins.begin(), hand_ins.end(), [&](const PlannedHandIn& other) {
    return &other != &unreadable && are_in_one_folder(other.hand_in, hand_in);
  });
  if (hand_in.kind == HandIn::Kind::kFolder && has_files) return true;
  if (readable == nullptr) return false;
  const bool is_part = readable->hand_in.kind == HandIn::Kind::kFolder && are_in_one_folder(readable->hand_in, hand_in);
  return hand_in.kind != HandIn::Kind::kArchive || is_part;
}

/// What holds no lab is not graded, or left out.
void sort_out_what_cannot_be_read(std::vector<PlannedHandIn>& hand_ins) {
  std::set<std::string> left_out;  // by path
  for (PlannedHandIn& planned : hand_ins) {
    const std::string& problem = planned.scanned.problem;
    if (problem.empty()) continue;
    const std::string& shown = planned.hand_in.shown;
    const std::string why = problem.rfind(shown, 0) == 0 ? problem : shown + ": " + problem;
    PlannedHandIn* readable = readable_next_to(planned, hand_ins);
    if (can_be_left_out(planned, readable, hand_ins)) {
      left_out.insert(planned.hand_in.path);
      if (readable != nullptr && planned.hand_in.kind != HandIn::Kind::kFolder)
        readable->notes.push_back("left out: " + why);
    } else {
      planned.open.insert(planned.open.begin(), "not graded: " + why);
    }
  }
  hand_ins.erase(
      std::remove_if(hand_ins.begin(), hand_ins.end(),
                     [&](const PlannedHandIn& planned) { return left_out.count(planned.hand_in.path) != 0; }),
      hand_ins.end());
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

std::string judging_with(const std::string& judging, const Decisions& decisions) {
  if (!decisions.any()) return judging;
  return judging + kDecided + json_text(decisions);
}

Decisions decisions_in(const std::string& judging) {
  const std::size_t at = judging.find(kDecided);
  if (at == std::string::npos) return {};
  const auto decided = nlohmann::json::parse(judging.substr(at + std::string(kDecided).size()), nullptr, false);
  return decided.is_object() ? decided.get<Decisions>() : Decisions();
}

ClassPlan plan_class(const HandIns& hand_ins, const std::vector<ScannedHandIn>& scanned, const Roster* roster,
                     const std::function<std::string(const HandIn&, const Identity&)>& get_folder) {
  ClassPlan plan;
  for (std::size_t i = 0; i < hand_ins.found.size(); ++i) {
    PlannedHandIn planned;
    planned.hand_in = hand_ins.found[i];
    planned.scanned = scanned[i];
    plan.hand_ins.push_back(std::move(planned));
  }
  share_signatures(plan.hand_ins);
  for (PlannedHandIn& planned : plan.hand_ins) find_owners(planned, roster);
  sort_out_what_cannot_be_read(plan.hand_ins);
  keep_last_versions(plan.hand_ins);
  std::set<std::size_t> seen;
  for (PlannedHandIn& planned : plan.hand_ins) {
    planned.who = get_folder(planned.hand_in, planned.identity);
    seen.insert(planned.roster_rows.begin(), planned.roster_rows.end());
  }
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

GradingRounds plan_rounds(const ClassPlan& plan, const std::vector<std::size_t>& to_do,
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
