#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/course/rubric/rubric.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// Tasks that build on other tasks, judged so that no mistake costs twice. A task that lost marks is judged again with
/// the reference in place of the files that `stand_in` names, and keeps each check that passes either way. If its
/// needs were right by themselves, the file to blame is determined: where the task failed only with that file, the
/// file's own task gets a further check, which failed ("used by vae.attn_block"); where it was only too expensive, no
/// task loses anything, since no task asks how much a part may send.
struct StandIns {
  const Rubric& rubric;
  std::set<std::string> files;  ///< the lab's student files
  /// Whether the file is the submission's, and more than a stub.
  std::function<bool(const std::string& file)> is_own;
  /// The task's outcome with the reference's version of these files; nothing where that cannot be built. Checks that are
  /// fine in `unaided` need not be run again.
  std::function<std::optional<TaskOutcome>(const std::string& task, const std::set<std::string>& reference,
                                           const TaskOutcome& unaided)>
      judge_again;

  /// Judges again those of `tasks` that need it. `tasks` are in the rubric's order, their outcomes are there.
  void apply(const std::vector<std::string>& tasks, LabOutcome& outcome) const;

 private:
  std::set<std::string> files_of(const std::vector<std::string>& entries) const;
  std::set<std::string> replaceable(const RubricTask& task, const LabOutcome& outcome) const;
  bool would_reach_todo(const TaskOutcome& unaided, const std::set<std::string>& reference) const;
  std::vector<std::string> named(const std::set<std::string>& replaced, const RubricTask& task) const;
  std::string entry_to_blame(const RubricTask& task, const std::set<std::string>& all, const TaskOutcome& unaided,
                             const std::set<std::string>& known) const;
  void blame(const RubricTask& user, const std::string& entry, const CheckOutcome& failed, LabOutcome& outcome) const;
};

}  // namespace lab::grading
