#pragma once

#include "common/report/errors.h"

namespace lab::a9 {

/// `a9_collectives sim`: runs algorithms on a simulated network and prints their time beside the formula's; with
/// --sweep draws time against size.
ExitCode sim_command(int argc, char** argv);

}  // namespace lab::a9
