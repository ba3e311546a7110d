#pragma once

#include <string>
#include <vector>

#include "common/checks/case_verdict.h"
#include "common/page/junit_xml.h"

namespace lab {

/// What check_json() says of a lab's tasks, as a suite with a test for each check: "a9.broadcast: BroadcastFromLast". One
/// that is wrong or costs too much is a failure, one that ended its world an error, each with the lines of check_text().
/// The checks of a task that reached its TODO are failures, too: reporters treat skipped tests as harmless, but an
/// unimplemented task must not look right.
JunitSuite junit_suite(const std::string& lab, const std::string& json);

}  // namespace lab

// What `lab check` says of tasks, as text and as JSON.
namespace lab {

/// 3: a TODO was reached; otherwise that of the first failed world; 1: a case is wrong or costs too much; 0: passed or
/// skipped.
int choose_exit_code(const TaskOutcome& task);

/// How the ranks shared the work of the largest of these cases, as a line; empty: that is not known.
std::string text_of_sharing(const std::vector<CaseVerdict>& cases);

/// A task's checks as its author sees them, with a line for each that is wrong:
///
///     a9.broadcast: 3 of 4 checks right on 4 ranks
///       wrong    BroadcastFromLast: rank 0, result 'out', element [0, 0]: expected 12, got 3 (...)
///                likely: every rank has what rank 0 had before: src_rank is not used
///     a9.design: not implemented: stops at TODO(a9.tensor_parallel_shards)
std::string check_text(const TaskOutcome& task);

/// "12 of 31 tasks right", and how many are not implemented or were skipped.
class Summary {
 public:
  void add(bool passed, bool todo, bool skipped);
  std::string text() const;

 private:
  int num_tasks_ = 0, num_passed_ = 0, num_todo_ = 0, num_skipped_ = 0;
};

/// [{task, passed, skipped, todo, exit_code, message, ranks,
///   checks: [{name, passed, skipped, message, text, label, rank_lines, ended_world, symptom, likely, most_of_a_rank,
///             at_most, used, of_one_process, timeline}]}]:
/// `symptom` is an id, `likely` its message, `message` of a task the first line of check_text() after the id, `text` of a
/// check its lines there, which begin with `label`; `rank_lines` what each rank was doing when the world was stuck; it
/// `ended_world` if it threw, crashed or waited forever. `most_of_a_rank` are the costs of the rank that has most of
/// each, `at_most` their bounds (page/shown_costs.h), `used` those of each rank. `timeline`, what the ranks did in model
/// time (plot/timeline_json.h), only of a wrong check that communicates.
std::string check_json(const std::vector<TaskOutcome>& tasks);

}  // namespace lab
