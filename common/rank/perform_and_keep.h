#pragma once

#include <functional>

#include "common/rank/call_series.h"
#include "common/rank/record.h"
#include "common/rank/task_call.h"

namespace lab {

/// Wherever a case runs, this runs it: the call of its task on these inputs; all ranks together. Passes on the record of
/// what the call did on this rank and used, with results on the CPU, however it ends; a call that comes back is added to
/// the series of the case's calls, which is the measure of what lives on. A TODO does not end the run.
/// Anything else that is thrown is recorded and rethrown: a lab::Error as it is, the rest as an Error of exit code 7 with
/// the task, the case, the line in student code and the inputs' shapes.
/// Errors    what the call throws; ContractError: the task has no call, a message was posted and not waited for
void perform_and_keep(const CaseInputs& inputs, const CallTable& calls, Communicator& comm, CallSeries& series,
                      const std::function<void(CaseRecord)>& keep);

}  // namespace lab
