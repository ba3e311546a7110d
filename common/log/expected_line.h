#pragma once

#include <string>
#include <string_view>
#include <variant>

// One line that a log must hold, and what may be wrong with the line found in its place.
namespace lab {

/// True if the text is the template with every {field} filled in. The fields:
///   {node}    an integer or N/A          {device}  GPU or CPU
///   {index}   an integer                 {number}  a finite decimal number, "12", "-0.5", "1.5e-07"
///   {figure}  a figure of a match line, finite
///   {word}    letters, digits, '-', '.' and ',': a name or a list, "1f1b", "0-2,5"
/// Every other character stands for itself.
/// Errors    ContractError: a field that is not in this list
/// Example   matches_template("on {device} {index}.", "on CPU 3.") is true
bool matches_template(std::string_view line_template, std::string_view text);

/// A whole line of text, with the fields of matches_template().
/// Example   {"[Distributed Init] Rank 2 initialized on {node} on {device} {index}."}
struct ExpectedText {
  std::string text;
};

/// A match line. True: both figures finite, mean <= max <= max_bound. False: max above 0 and finite. A figure given in
/// exact_max or exact_mean must match digit for digit.
struct ExpectedMatch {
  std::string prefix;
  bool match = true;
  double max_bound = 1e-6;
  std::string exact_max;  ///< "1.193051e-01"; empty: any within the rules above
  std::string exact_mean;
};

/// A skipped line; an empty reason matches any.
struct ExpectedSkip {
  std::string prefix;
  std::string reason;
};

using ExpectedLine = std::variant<ExpectedText, ExpectedMatch, ExpectedSkip>;

/// What is wrong with the text as this line of this rank, such as "expected True, got False"; empty: nothing.
std::string problem_with(const ExpectedLine& expected, int rank, std::string_view text);

/// True if the text is an attempt at this line: the line itself, or the same check with another verdict or figures.
bool resembles(const ExpectedLine& expected, int rank, std::string_view text);

/// The expected line for messages, in quotes.
std::string describe(const ExpectedLine& expected, int rank);

}  // namespace lab
