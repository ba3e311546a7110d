#pragma once

#include <chrono>
#include <string>

namespace lab::plot {

/// Whether PATH holds gnuplot.
bool gnuplot_found();

/// Errors    UsageError: it does not; the message starts with `purpose`
void require_gnuplot(const std::string& purpose);

/// What gnuplot writes to its standard output when it is given the script; the user's own settings play no part.
/// Errors    UsageError: it is missing, fails or takes longer than max_wait; the message starts with `purpose`, and holds
///           gnuplot's own words
std::string run_gnuplot(const std::string& script, const std::string& purpose,
                        std::chrono::milliseconds max_wait = std::chrono::minutes(2));

}  // namespace lab::plot
