#pragma once

#include <functional>
#include <string>

#include "common/base/errors.h"
#include "common/log/log_expectation.h"

namespace lab::log {

/// `check-log`: compares a file, or standard input for "-", with what the program prints, as plain_log() reads it. Prints the
/// first ten problems and how many more there are, one line each, or that the log is accepted.
/// Returns   kAllMatch or kMismatch
/// Errors    UsageError: a folder, a file that cannot be read, is too large for a log, or is not text
ExitCode check_log_file(const std::string& path, const std::string& program, const LogExpectation& expectation);

}  // namespace lab::log
