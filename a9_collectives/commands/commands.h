#pragma once

#include "common/base/errors.h"

namespace lab::a9 {

/// `a9_collectives bench`: times every algorithm and its peers on real processes and prints one table.
ExitCode bench_command(int argc, char** argv);

/// `a9_collectives explain NAME`: draws which chunk goes where in which step, from the trace of a real run; with
/// --text, prints it. NAME is a collective of the catalogue, or "schematic", the handout's picture of the all-to-all.
ExitCode explain_command(int argc, char** argv);

/// `a9_collectives sim`: runs algorithms on a simulated network and prints their time next to the formula's; with
/// --sweep draws time against size.
ExitCode sim_command(int argc, char** argv);

}  // namespace lab::a9
