#pragma once

#include <functional>

#include "common/api/collectives.h"

namespace lab::comm {

/// Reports progress of lone work to the waiting ranks. Cheap enough to call once per picture, batch or step.
using ReportProgress = std::function<void()>;

/// Work that one or some ranks do while the others wait, for longer than a single wait may last: encoding a picture,
/// training a reference, evaluating a test set. The worker calls its argument once per picture, batch or step; at most
/// a few times a second this sends a message to the waiting ranks. Only the suite's own code may report progress, from
/// the loop that makes it; a timer would make an endless loop look alive.
/// Call      collective, blocking; `work` is empty on ranks that have none. Returns when every rank's work is done
/// Errors    those of work, on its rank; CommError on the others when no progress is reported for the time-out
void work_while_others_wait(Collectives& comm, const std::function<void(const ReportProgress& report)>& work);

}  // namespace lab::comm
