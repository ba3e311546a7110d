#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/case_verdict.h"
#include "common/checks/checked_sizes.h"
#include "common/course/rubric/rubric.h"

// How a task's outcome comes about: facts are collected (judge_lab.cpp), then rules make outcomes of them.
namespace lab::grading {

/// What one program did.
struct Runs {
  /// Each case on one number of ranks after the other, up to the first on which it is not right.
  std::vector<CaseVerdict> verdicts = {};
  std::string not_judged = {};  ///< why the machine kept it from being built at all; empty: it was
};

/// What the judge has seen of one lab of a submission, and what the course asks. It never changes once it is there.
struct Facts {
  Rubric rubric;
  std::vector<Case> cases = {};                      ///< of the tasks
  CheckedSizes sizes = {};                           ///< on which they are judged
  std::vector<std::string> tasks = {};               ///< to be judged, in the rubric's order
  std::set<std::string> files = {};                  ///< the lab's student files
  std::set<std::string> own_files = {};              ///< those that are the submission's, and more than a stub
  std::map<std::string, std::string> left_out = {};  ///< files that are not in its program, and why
  std::set<std::string> to_look_at = {};             ///< those of them that may be fine: somebody has to look
  Runs runs = {};                                    ///< of the submission's program
  /// The runs of a task's cases, but for those of these names, with the reference in place of these files: made when a
  /// rule first asks for them. Nullopt: such a program cannot be built.
  std::function<std::optional<Runs>(const std::string& task, const std::set<std::string>& reference,
                                    const std::set<std::string>& but_for)>
      runs_with_reference = {};
};

/// By task.
using Outcomes = std::map<std::string, TaskOutcome>;

/// From what was seen, and what the rules before made of it, to the next outcomes.
using Rule = Outcomes (*)(const Facts&, Outcomes);

/// The checks of each task: right if every run of it was, otherwise what its first run says that was not. A task that
/// reached a TODO is not implemented.
Outcomes take_runs(const Facts& facts, Outcomes outcomes);

/// Takes back what a task passed only in checks that are not enough by themselves: one that who does nothing passes, too
/// (Case::earns_alone), and one that is judged on a single number of ranks where others of the task are on several.
Outcomes take_back_weak(const Facts& facts, Outcomes outcomes);

/// For tasks that lost marks, says why their files were left out of the program.
Outcomes explain_left_out(const Facts& facts, Outcomes outcomes);

/// A file that was left out until somebody has looked at it: its tasks are not judged, and what passes without it keeps
/// its marks. A file belongs to the tasks whose own file, or folder, it is in; if there are none, to those with a file in
/// the same folder.
Outcomes withhold_tasks(const Facts& facts, Outcomes outcomes);

/// No mistake costs twice: a task that lost marks is judged again with the reference in place of the files that its
/// `stand_in` names, and keeps each check that passes either way. If its needs were right by themselves, the file to blame
/// is determined: where the task failed only with that file, the file's own task gets a further check, which failed ("Used
/// by vae.attn_block"); where it was only too expensive, no task loses anything, since no task asks how much a part may
/// send.
Outcomes let_reference_stand_in(const Facts& facts, Outcomes outcomes);

/// Tasks that build on what waits for a look, and may have failed because of that, wait too: unless they were judged with
/// the reference in its place.
Outcomes withhold_dependents(const Facts& facts, Outcomes outcomes);

/// In the order in which they are applied.
inline constexpr Rule kRules[] = {take_runs,      take_back_weak,         explain_left_out,
                                  withhold_tasks, let_reference_stand_in, withhold_dependents};

/// What all rules together make of the facts.
Outcomes outcomes_by_rules(const Facts& facts);

}  // namespace lab::grading
