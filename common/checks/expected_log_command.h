#pragma once

#include "common/api/errors.h"

namespace lab {

namespace cli {
class App;
struct CommonOptions;
}  // namespace cli
struct LabProgram;

/// `LAB [COMMAND] expected-log [options of a run]`: prints the lines of right runs with these options, on each number of
/// ranks up to 64 that the lab runs on, for its expected_log.txt.
/// Errors    UsageError: options; the lab runs on none of these numbers with them
ExitCode print_expected_log(const cli::App& app, const LabProgram& program, const cli::CommonOptions& common);

}  // namespace lab
