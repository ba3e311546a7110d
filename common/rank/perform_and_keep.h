#pragma once

#include <functional>

#include "common/rank/record.h"
#include "common/rank/task_call.h"

namespace lab {

/// Performs a case on this rank and passes on its record, which has task and name already, however it ends. A TODO does
/// not end the run. Anything else that is thrown is recorded and rethrown; so is the error of a case that posted a
/// message without waiting for it.
void perform_and_keep(CaseRecord record, const std::function<CaseRun()>& perform, Communicator& comm,
                      const std::function<void(const CaseRecord&)>& keep);

}  // namespace lab
