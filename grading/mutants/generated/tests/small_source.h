#pragma once

#include <memory>
#include <string>
#include <vector>

#include "grading/mutants/generated/rules.h"
#include "grading/mutants/generated/source_mutants.h"

namespace lab::grading::generated {

/// A student file whose solution is the given lines, in a function with parameters.
inline std::string file_with(const std::string& solution,
                             const std::string& head = "int f(int rank, int size, int other) {") {
  return "// a comment\n" + head + "\n  // BEGIN SOLUTION t.one\n  // STUB return 0;\n" + solution +
         "\n  // END SOLUTION t.one\n}\n";
}

/// What the rule makes of a solution: "rank + 1 -> rank - 1" each.
inline std::vector<std::string> made_by(std::vector<Proposal> (*rule)(const Region&), const std::string& solution,
                                        const std::string& head = "int f(int rank, int size, int other) {") {
  const TokenizedText text(file_with(solution, head));
  std::vector<std::string> made;
  for (const Region& region : regions_of(text, {"t.one"})) {
    for (const Proposal& proposal : rule(region)) made.push_back(proposal.what);
  }
  return made;
}

}  // namespace lab::grading::generated
