#pragma once

#include <string>
#include <vector>

namespace lab::grading {

/// A sentence of a header that students read, and what breaks it: one change of the reference, which a case must catch.
struct Contract {
  std::string header;    ///< "a9_collectives/broadcast.h"
  std::string sentence;  ///< how the line begins: "Aliasing in place"
  std::string file;  ///< of the reference: "a9_collectives/student/broadcast/flat.cpp"; empty if given code keeps it
  std::string task;  ///< between whose markers; empty: any task's
  std::string replace, with;  ///< code that is there once
  /// The test of the given code that keeps the sentence; or of the reference's way, where others are right, too.
  std::string given;
  std::string place;  ///< "grading/mutants/contracts/a9.toml:12"
};

/// Reads the contracts of a lab.
/// Errors    UsageError: what is wrong, and where
std::vector<Contract> load_contracts(const std::string& path);

/// A line of a header that promises something: `/// Returns`, Shapes, Aliasing, Order, Cost or Errors.
struct PromisedLine {
  std::string header;
  int line = 0;
  std::string text;  ///< "Aliasing in place; returns the tensor itself", with single spaces; all lines of the sentence
};

/// The promises of a lab's student headers: those that declare what a student file with a solution defines. A sentence
/// that says "(checked before your code)" is kept by given code and is none of them.
std::vector<PromisedLine> promised_lines(const std::string& root, const std::string& lab_folder);

/// Whether the contract is about this line.
bool is_about(const Contract& contract, const PromisedLine& line);

}  // namespace lab::grading
