#pragma once

#include "common/rank/task_call.h"

namespace lab {

/// The whole main function of the program that is one judged rank (start/rank_server.h starts it). Over the relay it is
/// sent one case after the other with this rank's inputs, and sends back records. It has no cases, no seed and no expected
/// results. Ends the process itself.
[[noreturn]] void rank_program(CallTable (*calls)());

}  // namespace lab
