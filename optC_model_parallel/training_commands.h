#pragma once

#include "common/report/errors.h"

namespace lab::optc {

/// `single`: trains in one process, leaves the record and its curves.
ExitCode single_command(int argc, char** argv);

/// `compare`: several ways to train beside one process; a table, curves and CSV.
ExitCode compare_command(int argc, char** argv);

}  // namespace lab::optc
