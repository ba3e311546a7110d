#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/api/errors.h"
#include "common/log/log_expectation.h"

namespace lab::log {

/// `check-log`: compares a file, or standard input for "-", with what the program prints, as plain_log() reads it. Prints the
/// first ten problems and how many more there are, one line each, or that the log is accepted.
/// Returns   kAllMatch or kMismatch
/// Errors    UsageError: a folder, a file that cannot be read, is too large for a log, or is not text
ExitCode check_log_file(const std::string& path, const std::string& program, const LogExpectation& expectation);

/// Why the log is not accepted, one message per problem, in the order of the file; empty: the log holds exactly the
/// expected lines. Whole lines of different ranks may come in any order, the lines of one rank only in theirs.
/// `program`: what this lab's program says on stderr in a right run may stand between the lines, as both streams may go
/// into one file; its errors may not.
/// Example   "line 7: rank 1: expected a max diff of at most 1e-06, got 2.000000e-03"
std::vector<std::string> check_log(std::string_view text, const LogExpectation& expectation,
                                   const std::string& program = "");

}  // namespace lab::log
