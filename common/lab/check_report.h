#pragma once

#include <string>
#include <vector>

#include "common/lab/check_run.h"

namespace lab {

/// A task's checks for the one who wrote it, a line each that is wrong:
///
///     a9.broadcast: 3 of 4 checks right on 4 ranks
///       wrong    BroadcastFromLast: rank 0, result 'out', element [0, 0]: expected 12, got 3 (...)
///                likely: every rank has what rank 0 had before: src_rank is not used
///     a9.design: not implemented: stops at TODO(a9.tensor_parallel_shards)
std::string check_text(const TaskCheck& check);

/// "12 of 31 tasks right", and how many are still to be done.
std::string summary_text(const std::vector<TaskCheck>& checks);

/// [{task, passed, skipped, exit_code, words, checks: [{name, passed, skipped, words, symptom, likely}]}]: `symptom` is
/// an id, `likely` its sentence, `words` of a task what check_text() says in its first line behind the id.
std::string check_json(const std::vector<TaskCheck>& checks);

}  // namespace lab
