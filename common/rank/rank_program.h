#pragma once

#include "common/rank/task_call.h"

namespace lab {

/// The whole main function of the program that is one judged rank: `PROGRAM RANK SIZE DESCRIPTOR [shaken]`. Over
/// the descriptor, a relay's end (relay_world.h), it is sent one case after the other with this rank's inputs, and sends back records.
/// It has no cases, no seed and no expected results. `PROGRAM --version` says that it starts. Ends the process itself.
[[noreturn]] void rank_program(int argc, char** argv, CallTable (*calls)());

}  // namespace lab
