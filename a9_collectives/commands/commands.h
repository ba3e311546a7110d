#pragma once

#include "common/cli/app.h"

namespace lab::a9 {

/// `a9_collectives bench`: times the algorithms against each other on real processes, in one table; with --fit, writes
/// the tables of choose_...().
void bench_command(cli::App& app);

/// `a9_collectives explain NAME`: draws which chunk goes where in which step, from the trace of a real run; with
/// --text, prints it. NAME is a collective of the catalogue, or "schematic", the handout's picture of the all-to-all.
void explain_command(cli::App& app);

/// `a9_collectives sim`: runs algorithms on a simulated network and prints their time next to the formula's; with
/// --sweep draws time against size.
void sim_command(cli::App& app);

}  // namespace lab::a9
