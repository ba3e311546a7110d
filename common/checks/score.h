#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/checks/case_verdict.h"

// What a right solution costs, next to the reference and to what it may cost: `lab check --score`.
namespace lab {

/// By name of the case.
using FiguresByCase = std::map<std::string, CaseFigures>;

/// What the ranks used, of each case that is right and communicates, or has a bound on work.
FiguresByCase list_figures(const std::vector<TaskOutcome>& tasks);

/// As JSON, a case per line.
std::string text_of_figures(const FiguresByCase& figures);

/// Parses what text_of_figures() wrote.
/// Errors    UsageError: the text is not what text_of_figures() writes; the file cannot be read
FiguresByCase figures_from(const std::string& text);
FiguresByCase load_figures(const std::string& path);

/// A table of a task's right cases; empty: there is none. What is not known, or not bounded, is a dash.
/// Example     AllReduceLarge                yours   reference     at most
///               model time, us              164.2       164.2           -
///               bytes sent                 120000      120000      120000
///               peak tensor bytes           80384       60288           -
///               floating-point ops          30000       30000       30000
std::string score_text(const TaskOutcome& task, const FiguresByCase& reference);

}  // namespace lab
