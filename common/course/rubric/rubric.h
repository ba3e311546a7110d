#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/course/rubric/own_numbers.h"

// A lab's rubric.toml: tasks, marks, prerequisites, hints, and what is handed in. Free of tensors.
namespace lab {

/// When a student sees what became of an item, where results are shown by Gradescope; see its documentation. Only what
/// is visible is in what is handed out otherwise.
enum class Visibility { kVisible, kHidden, kAfterDueDate, kAfterPublished };

/// As in a rubric, and in Gradescope's results.json: "visible", "hidden", "after_due_date", "after_published".
std::string to_text(Visibility visibility);

/// One task: what a student writes, and what is judged by its cases.
struct RubricTask {
  std::string id;       ///< "a9.broadcast"
  std::string title;    ///< "Broadcast"
  std::string file;     ///< "student/broadcast/flat.cpp", from the lab's folder; or a folder of several files
  std::string teaches;  ///< for the plan; empty: the same as the item before
  std::string read;     ///< heading of the section of the lab's README that explains it; empty: none in particular
  double marks = 0;     ///< 0 where a ladder counts it
  bool bonus = false;   ///< counts above the total
  bool all_or_nothing = false;     ///< false: marks are shared evenly over its cases
  std::vector<std::string> needs;  ///< tasks that it builds on: if it fails and one of them failed, it is skipped
  /// Files or folders of other tasks that this one builds on. The reference can stand in for them, so that no mistake
  /// costs twice: a task that lost marks is judged again with it.
  std::vector<std::string> stand_in;
  /// Those of `stand_in` whose communication cost only this task checks: the reference stands in for one of them if its
  /// own task failed, but not if it is only too expensive.
  std::vector<std::string> judges_cost;
  std::vector<std::string> hints;  ///< three levels
  bool asked = true;               ///< false: one of Rubric::given
  Visibility visibility = Visibility::kVisible;
};

/// An item that a person marks.
struct RubricManual {
  std::string id, title, file, teaches;  ///< `teaches`: as for a task
  std::vector<std::string> also;         ///< files that may take the place of `file`, or belong to it
  double marks = 0;                      ///< 0 where a ladder counts it
  bool bonus = false;                    ///< counts above the total
  std::string look_for;                  ///< for the grader; empty in a starter
  std::string question;                  ///< of those with numbers: as in the handout, with {NAME} in the place of each
  std::vector<RubricNumber> numbers = {};  ///< that each student may have of their own
  Visibility visibility = Visibility::kVisible;
};

/// One step of a ladder: reached if all of `needs` are met, one of `any_of` (if there are any), and the rungs below.
struct RubricRung {
  double marks = 0;  ///< of the whole ladder, if this is the highest rung reached
  std::string title;
  std::vector<std::string> needs, any_of;  ///< task ids, names of single checks, or ids of manual items
};
struct RubricLadder {
  std::string id, title;
  double total = 0;
  std::vector<RubricRung> rungs;  ///< lowest first
  Visibility visibility = Visibility::kVisible;
};

/// Marks above the total for a set of tasks.
struct RubricBonus {
  std::string id, title;
  double marks = 0;
  std::vector<std::string> needs, any_of;
  Visibility visibility = Visibility::kVisible;
};

struct RubricHandIn {
  std::vector<std::string> sources;  ///< files or folders of student code, from the lab's folder
  std::vector<std::string> answers;  ///< other files
  std::string run;                   ///< what must be run for them, as text
  /// The one answer file that holds the sources as snippets, and is all that is handed in; empty: sources are files.
  std::string snippets_in;
};

/// How the lab is judged.
struct RubricJudging {
  std::optional<std::vector<int>> ranks;        ///< world sizes on which every case must be right; none: the lab's own
  std::optional<std::vector<int>> cheap_ranks;  ///< further ones, for all cases but the costly ones
  double stall_seconds = 10;                    ///< the longest time without a new result before a run is ended
  double budget_seconds = 900;                  ///< for all runs of a submission
};

struct Rubric {
  std::string lab;  ///< "a9_collectives"
  std::string title;
  double total = 0, bonus_total = 0;
  std::string marks_source;
  std::string own_numbers;  ///< any text, by which each student gets other numbers; empty: everybody has the handout's
  RubricHandIn hand_in;
  RubricJudging judging;
  std::vector<RubricTask> tasks;
  /// Tasks with `asked = false`: a starter has their code, no other item needs them, and their files are not handed in.
  std::vector<RubricTask> given;
  std::vector<RubricManual> manuals;
  std::vector<RubricLadder> ladders;
  std::vector<RubricBonus> bonuses;

  const RubricTask* find_task(const std::string& id) const;  ///< nullptr if there is none
  /// All tasks that build on this one, directly or not.
  std::vector<std::string> find_dependents(const std::string& task) const;
};

/// Reads a rubric and checks it: marks and bonuses add up to the totals (in a rubric with ladders, the ladders do), ids
/// are unique, needs exist and have no cycle, three hints for each task, no unknown key. An item without `visibility` has
/// that of the rubric, and else is visible.
/// Errors    UsageError: the first thing that is wrong, with file and line
Rubric load_rubric(const std::string& path);

/// The rubric with an instructor's overrides applied: its tables name a task, manual item, ladder or bonus by `id` and
/// give other `marks`, `bonus`, `needs`, `all_or_nothing`, `visibility`; [judging] other sizes; `visibility` alone is that
/// of every item that has none in this file; `own_numbers`. Totals follow from the marks.
/// The file is for one lab (`lab = "a9_collectives"`) or has a table for each ([a9_collectives]) of `labs`.
/// Errors    UsageError: a lab or an id that does not exist, with the nearest that does; what load_rubric() checks
Rubric with_overrides(const Rubric& rubric, const std::string& path, const std::vector<std::string>& labs);

}  // namespace lab
