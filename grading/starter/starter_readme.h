#pragma once

#include <string>
#include <vector>

namespace lab::grading {

/// A starter's README: grading/starter/README.starter.md, filled so that nothing is said twice:
///
///     {{labs}}                 a line of its own: the rows of the suite's README, of the labs that the starter has
///     {{section Exit codes}}   a line of its own: that section of the suite's README, heading included
///     {{task}} {{lab}}         the first task, "a4.single_step", and the short name of its lab
///
/// Errors    UsageError: a row or section that the suite's README does not have
std::string starter_readme(const std::string& source, const std::vector<std::string>& labs);

}  // namespace lab::grading
