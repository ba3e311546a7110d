#pragma once

#include <chrono>
#include <string>

namespace lab::plot {

/// Whether gnuplot is in PATH.
bool gnuplot_found();

/// Errors    UsageError: it is not; the message starts with `purpose`
void require_gnuplot(const std::string& purpose);

/// The standard output of gnuplot running the script; the user's own settings are ignored.
/// Errors    UsageError: it is missing, fails or takes longer than max_wait; the message starts with `purpose` and
///           includes gnuplot's own
std::string run_gnuplot(const std::string& script, const std::string& purpose,
                        std::chrono::milliseconds max_wait = std::chrono::minutes(2));

}  // namespace lab::plot
