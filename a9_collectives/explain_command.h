#pragma once

#include "common/report/errors.h"

namespace lab::a9 {

/// `a9_collectives explain NAME`: draws which chunk goes where in which step, from the trace of a real run; with
/// --text, prints it. NAME is a collective of the catalogue, or "schematic", the handout's picture of the all-to-all.
ExitCode explain_command(int argc, char** argv);

}  // namespace lab::a9
