#pragma once

#include <string>
#include <vector>

namespace lab::grading {

/// A line of a header that promises something: `/// Returns`, Shapes, Aliasing, Order, Cost or Errors.
struct PromisedLine {
  std::string header;
  int line = 0;
  std::string text;  ///< "Aliasing in place; returns the tensor itself", with single spaces; all lines of the sentence
};

/// The promises of a lab's student headers: those that declare what a student file with a solution defines. A sentence
/// that says "(checked before your code)" is kept by given code and is none of them.
std::vector<PromisedLine> promised_lines(const std::string& root, const std::string& lab_folder);

/// Whether a row of a table that names a header and how its sentence begins is about this line.
bool is_about(const std::string& header, const std::string& sentence, const PromisedLine& line);

}  // namespace lab::grading
