#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/course/rubric/rubric.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// A person's mark for one item. Kept in its own file, which no grading overwrites.
struct ManualMark {
  std::string id;  ///< of a [[manual]] item
  double marks = 0;
  std::string comment;
  std::string hand_in;  ///< find_version() what was marked
};

/// One line of the result: a task, a manual item, a ladder, a bonus.
struct MarkedItem {
  enum class Kind { kTask, kManual, kLadder, kBonus };
  std::string id, title;
  Kind kind = Kind::kTask;
  Worth worth = Worth::kFailed;
  double marks = 0, out_of = 0;
  double pending = 0;     ///< marks that wait for a person
  double not_judged = 0;  ///< marks that wait for another grading: see Worth::kNotJudged
  bool bonus = false;     ///< out_of counts above the total
  Visibility visibility = Visibility::kVisible;
  std::vector<std::string> findings;  ///< what was found, a line each
  std::string question = {};          ///< kManual: the student's own, if each has other numbers; for the grader
  std::vector<std::string> attached;  ///< kManual: files of the submission that belong to it
  std::string version;                ///< kManual: a checksum of these files, see find_version()
  bool marked_before = false;         ///< kManual: a person marked another version, which does not count for this one
};

/// What rungs and bonuses need, and how far that is met. A task is met when all its checks are right, a check when
/// it is, a manual item when it has all its marks; it is pending while it waits for them. What was not judged may be
/// met after another grading, unless part of it failed.
class Needs {
 public:
  Needs(const LabOutcome& outcome, const std::vector<MarkedItem>& manual_items);

  Worth find_state(const std::string& need) const;
  /// All of `needs`, and one of `any_of` if there are any.
  Worth find_state(const std::vector<std::string>& needs, const std::vector<std::string>& any_of) const;
  /// Those that are not met: "a9.ring, one of a9.x, a9.y"; empty if all are met.
  std::string lacking(const std::vector<std::string>& needs, const std::vector<std::string>& any_of) const;

 private:
  Worth find_one(const std::vector<std::string>& any_of) const;

  std::map<std::string, Worth> states_;  ///< of tasks, checks and manual items; whatever is not here is unmet
};

struct LabMarks {
  std::string lab, title;
  double marks = 0;               ///< without what is pending; bonuses count
  double total = 0;               ///< what is 100 %
  double pending = 0;             ///< marks that wait for a person
  double not_judged = 0;          ///< marks that wait for another grading
  std::vector<MarkedItem> items;  ///< ladders, bonuses, tasks, manual items: each in the rubric's order
};

/// A task's line: its marks by its checks, and what a student needs to know about those that failed. It is skipped if
/// it failed after one of its needs did; the checks that passed still count.
MarkedItem mark_task(const RubricTask& task, const LabOutcome& outcome);

/// A ladder's line: the marks of the highest rung whose needs, and those of the rungs below it, are met; what a rung
/// above it would add if it only waits for a person is pending.
MarkedItem mark_ladder(const RubricLadder& ladder, const Needs& needs);

/// A bonus' line: its marks, or nothing.
MarkedItem mark_bonus(const RubricBonus& bonus, const Needs& needs);

/// Turns what was found into marks by the rubric; what was not run gets 0. Tasks: all or nothing, or the share of their
/// checks that passed; too expensive is failed, skipped checks do not count. Ladders: the highest rung whose needs, and
/// those below it, are met; a rung that only waits for a manual item is pending. A manual item is pending until the
/// version that was handed in has a mark; with none of its files handed in, it is 0. What was not judged has no marks,
/// not even 0: it waits for another grading. Marks are not rounded.
/// Example   a task of 6 marks with 3 checks, one of them right: 2; all right: 6
LabMarks compute_marks(const Rubric& rubric, const LabOutcome& outcome, const std::vector<ManualMark>& by_hand);

}  // namespace lab::grading
