#pragma once

#include <string>
#include <vector>

namespace lab::grading {

/// Which files of the source tree a starter has, whatever else lies in it: what is needed to build, run, check and hand
/// in, and nothing that only graders or authors need: no grading/, tests, answers, results of runs, history. The README
/// is not among them: a starter has its own.
std::vector<std::string> starter_paths(const std::string& source, const std::vector<std::string>& labs);

}  // namespace lab::grading
