#pragma once

#include <map>
#include <string>
#include <vector>

#include "grading/similarity/tests/disguises.h"

// Hand-ins that are known to be copies, or known not to be, made of the suite's own solutions.
namespace lab::grading {

std::string source_dir();

/// The labs' student files with the reference solutions, by lab.
std::map<std::string, Files> references();

/// The same as students get them.
std::map<std::string, Files> starters();

/// Two hand-ins for a lab by people who did not work together.
struct IndependentPair {
  std::string name, lab;
  Files first, second;
};

/// The variants of grading/mutants, each with the reference's solution of the same tasks. What they did not change is a
/// stub in both, as it is the reference's.
std::vector<IndependentPair> variants_and_references();

/// A9's algorithms for one collective, each file alone, and each with each.
std::vector<IndependentPair> algorithms_of_a_collective();

/// The solutions of A4 and A5 in tests/independent, whole labs, and the reference, each with each.
std::vector<IndependentPair> whole_solutions();

}  // namespace lab::grading
